// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Calls that wait for one of few connections.
struct CurlWaitingTests {
    private func provider(connections count: Int, perHost: Int? = nil) -> CurlProvider {
        var configuration = CurlConfiguration.patient
        configuration.maximumConnectionCount = count
        configuration.maximumConnectionCountPerHost = perHost
        return CurlProvider(configuration: configuration)
    }

    /// Answers `/held` after the gate is open, and any other request at once.
    private func server(holding gate: Gate) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                if request.target == "/held" { try connection.wait(for: gate) }
                try connection.send(.status(204), answering: request)
            }
        }
    }

    @Test func eachGetsItsResponse() async throws {
        let server = try LoopbackServer.responding { .text($0.target) }
        let provider = provider(connections: 3)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let response = try await provider.response(for: ApiRequest(url: server.url("/\(number)")))
                    return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts == Set((0..<300).map { "/\($0)" }))
        #expect(server.connectionCount <= 3)
    }

    @Test func aCanceledCallLeavesTheQueue() async throws {
        let gate = Gate("held response")
        let server = try server(holding: gate)
        let provider = provider(connections: 1)
        async let held = provider.response(for: ApiRequest(url: server.url("/held")))
        _ = try await server.request(0)
        let waiting = (0..<50).map { number in
            Task { try await provider.response(for: ApiRequest(url: server.url("/\(number)"))) }
        }
        for task in waiting.dropLast() { task.cancel() }
        for task in waiting.dropLast() {
            let error = await #expect(throws: ApiConnectorError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
        gate.open()
        #expect(try await held.status == 204)
        #expect(try await waiting[49].value.status == 204)
        #expect(server.requests.map(\.target) == ["/held", "/49"])
    }

    /// So a waiting upload has no open file, and no thread that reads a pipe.
    @Test func aWaitingUploadDoesNotReadItsSource() async throws {
        let gate = Gate("held response")
        let server = try server(holding: gate)
        let provider = provider(connections: 1)
        async let held = provider.response(for: ApiRequest(url: server.url("/held")))
        _ = try await server.request(0)
        let wereAllowed = Locked<[Bool]>([])
        let body = RequestBody.stream(byteCount: 1) {
            wereAllowed.withLock { $0.append(gate.isOpen) }
            return AsyncStream<Data> { continuation in
                continuation.yield(Data([1]))
                continuation.finish()
            }
        }
        let uploads = (0..<20).map { number in
            Task {
                let request = ApiRequest(url: server.url("/\(number)"), method: .put, body: body)
                return try await provider.response(for: request)
            }
        }
        try await provider.isAwaited(by: 20)
        uploads[19].cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await uploads[19].value }
        #expect(error?.kind == .cancelled)
        gate.open()
        #expect(try await held.status == 204)
        for upload in uploads.dropLast() { #expect(try await upload.value.status == 204) }
        #expect(wereAllowed.withLock { $0 } == Array(repeating: true, count: 19))
        for request in server.requests.dropFirst() { #expect(request.body == Data([1])) }
    }

    @Test func allEndWhenTheyAreCanceled() async throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.waitUntilPeerCloses()
        }
        let provider = provider(connections: 1)
        let tasks = (0..<20).map { number in
            Task { try await provider.response(for: ApiRequest(url: server.url("/\(number)"))) }
        }
        _ = try await server.request(0)
        for task in tasks { task.cancel() }
        for task in tasks {
            let error = await #expect(throws: ApiConnectorError.self) { try await task.value }
            #expect(error?.kind == .cancelled)
        }
    }

    /// libcurl looks at the age in whole seconds.
    @Test(.enabled(if: Libcurl.asks, "libcurl limits the age from 7.80 on"), .timeLimit(.minutes(10)))
    func anOldConnectionIsNotUsedAgain() async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        var configuration = CurlConfiguration.patient
        configuration.maximumConnectionLifetime = .milliseconds(1)
        let provider = CurlProvider(configuration: configuration)
        await eventually {
            _ = try? await provider.response(for: ApiRequest(url: server.url()))
            return server.connectionCount > 1
        }
        #expect(CurlConfiguration().maximumConnectionLifetime == .seconds(600))
    }
}
#endif
