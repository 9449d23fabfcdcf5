// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import goals

struct PacedCallsTests {
    @Test func measuresEachCall() async throws {
        let latencies = try await PacedCalls.milliseconds(
            every: .milliseconds(1),
            for: .milliseconds(20),
            grace: .seconds(60)
        ) {}
        #expect(latencies.count == 20)
        #expect(latencies.allSatisfy { $0 >= 0 })
    }

    @Test func countsTheCallsThatAHangingOneDelays() async throws {
        let latencies = try await PacedCalls.milliseconds(
            every: .milliseconds(10),
            for: .milliseconds(100),
            grace: .milliseconds(50)
        ) {
            // This loop ends only with a cancel.
            for await _ in AsyncStream(Void.self, { _ in }) {}
            try Task.checkCancellation()
        }
        #expect(latencies.count == 10)
        // The first call was due at the start, and the last call 60 ms before the end.
        #expect(try #require(latencies.first) >= 150)
        #expect(try #require(latencies.last) >= 60)
    }

    @Test func failsAsACallFails() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await PacedCalls.milliseconds(every: .milliseconds(1), for: .seconds(60), grace: .zero) {
                throw Failure()
            }
        }
    }

    @Test func quantiles() {
        let values = (1...200).map(Double.init)
        #expect(values.shuffled().quantile(0.99) == 198)
        #expect(values.quantile(0.5) == 100)
        #expect(values.quantile(1) == 200)
        #expect([7.0].quantile(0.99) == 7)
        #expect([Double]().quantile(0.99) == 0)
    }
}
