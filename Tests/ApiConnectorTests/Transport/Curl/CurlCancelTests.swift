// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct CurlCancelTests {
    /// In its own process, where no other code opens descriptors: 10,000 calls in release, a fiftieth in debug.
    @Test func leavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { connection in
                while let request = try connection.readRequest() {
                    if request.target == "/silent" { return try connection.waitUntilPeerCloses() }
                    try connection.send(.text("ok"), answering: request)
                }
            }
            let provider = CurlProvider(configuration: .patient)
            func cancelCalls(_ count: Int) async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count {
                        if number >= 50 { try await group.next() }
                        group.addTask {
                            let target = number.isMultiple(of: 2) ? "/silent" : "/"
                            let call = Task {
                                _ = try await provider.response(for: ApiRequest(url: server.url(target)))
                            }
                            for _ in 0..<(number % 70) { await Task.yield() }
                            call.cancel()
                            do { try await call.value } catch let error as ApiConnectorError
                                where error.kind == .cancelled
                            {}
                        }
                    }
                    try await group.waitForAll()
                }
                // The loop handles this command after all earlier ones.
                _ = try await provider.response(for: ApiRequest(url: server.url()))
            }
            #if DEBUG
            let count = 200
            #else
            let count = 10_000
            #endif
            try await cancelCalls(count / 4)
            let before = try ProcessFootprint()
            try await cancelCalls(count)
            // Both ends of as many connections as there were calls at a time, and a thread of the server's for each.
            let allowed = before.adding(descriptors: 2 * 50, threads: 50 + 5, byteCount: 16 << 20)
            await eventually { (try? ProcessFootprint().isWithin(allowed)) == true }
            let after = try ProcessFootprint()
            guard after.isWithin(allowed) else { throw LoopbackError.timedOut("\(before) became \(after)") }
        }
    }

    @Test func endsItsThreadAndClosesItsDescriptorsWithTheLastReference() async {
        await #expect(processExitsWith: .success) {
            func count(_ folder: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
            }
            let server = try LoopbackServer.responding { _ in .text("ok") }
            // The first one starts what stays: the pool's threads, the timers of Dispatch.
            _ = try await CurlProvider(configuration: .patient).response(for: ApiRequest(url: server.url()))
            let before = try count("fd")
            for _ in 0..<100 {
                let provider = CurlProvider(configuration: .patient)
                _ = try await provider.response(for: ApiRequest(url: server.url()))
            }
            // The threads end by themselves soon after; each connection's end says so to the server.
            for index in 0..<101 { try await server.connectionEnded(index) }
            await eventually { (try? count("fd") <= before + 5 && count("task") < 30) == true }
            let (after, threads) = (try count("fd"), try count("task"))
            guard after <= before + 5 else { throw LoopbackError.timedOut("\(before) descriptors became \(after)") }
            guard threads < 30 else { throw LoopbackError.timedOut("\(threads) threads are left") }
        }
    }
}
#endif
