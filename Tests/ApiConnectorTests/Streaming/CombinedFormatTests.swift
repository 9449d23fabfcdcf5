// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// A format of a format.
struct CombinedFormatTests {
    private typealias Outcome = Result<Int, ApiConnectorError>

    private static let lines = [Data("1\n\"two\"\n3\n".utf8)]

    @Test func skippingTwiceEqualsSkippingOnce() async {
        let found = await elements(
            of: Int.self,
            .skippingUndecodable(.skippingUndecodable(.jsonLines)),
            in: Self.lines
        )
        #expect(found.elements == [1, 3])
        #expect(found.error == nil)
    }

    @Test func theResultsOfASkippingFormatHoldTheErrors() async {
        let format: StreamFormat<Outcome> = .results(.skippingUndecodable(.jsonLines))
        let found = await elements(format, in: Self.lines)
        #expect(found.elements.map { try? $0.get() } == [1, nil, 3])
        #expect(found.error == nil)
    }

    @Test func aSkippingFormatOfResultsSkipsNothing() async {
        let format: StreamFormat<Outcome> = .skippingUndecodable(.results(.jsonLines))
        let found = await elements(format, in: Self.lines)
        #expect(found.elements.map { try? $0.get() } == [1, nil, 3])
    }

    @Test func theResultsOfResultsAreAllSuccesses() async {
        let format: StreamFormat<Result<Outcome, ApiConnectorError>> = .results(.results(.jsonLines))
        let found = await elements(format, in: Self.lines)
        #expect(found.elements.map { (try? $0.get()) != nil } == [true, true, true])
        #expect(found.elements.map { try? $0.get().get() } == [1, nil, 3])
    }

    @Test func textNeedsNoSkipping() async {
        let found = await elements(.skippingUndecodable(.lines), in: [Data("a\nb".utf8)])
        #expect(found.elements == ["a", "b"])
    }

    @Test func skippedLinesAreStillResumedByByte() async throws {
        let host = TestConnector { _ in .data(Data("1\n2\n".utf8), headers: ["Content-Type": "application/jsonl"]) }
        let api = NetworkConnector(environment: Place(), provider: host, router: Endpoint<ApiPath>.self)
        var values: [Int] = []
        for try await value in api.stream(
            of: Int.self,
            at: Endpoint(path: "/a"),
            as: .skippingUndecodable(.jsonLines).resuming()
        ) {
            values.append(value)
        }
        #expect(values == [1, 2])
    }

    @Test func aWholeBodyOverTheLimitFailsTheStream() async throws {
        let host = TestConnector { _ in .json([1, 2, 3]) }
        let api = NetworkConnector(
            environment: Place(),
            provider: host,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(maximumBodyByteCount: 6)
        )
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await _ in api.stream(of: [Int].self, at: Endpoint(path: "/a")) {
                Issue.record("a value came")
            }
        }
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.detail == "the body is longer than the limit of 6 bytes")
    }
}
