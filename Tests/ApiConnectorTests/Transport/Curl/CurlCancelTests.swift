// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite struct CurlCancelTests {
    enum Phase: CaseIterable {
        case connecting, handshake, sending, waiting, receiving
    }

    /// Answers at once in every phase, while another call on the same provider goes on.
    @Test(arguments: Phase.allCases) func answersAtOnceIn(_ phase: Phase) async throws {
        let arrived = Gate("\(phase)")
        let server = try LoopbackServer { connection in
            switch phase {
            case .connecting, .handshake: arrived.open()
            case .sending:
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                arrived.open()
                try connection.wait(for: Gate("what never comes"))
            case .waiting:
                _ = try connection.readRequest()
                arrived.open()
            case .receiving:
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello")
                arrived.open()
            }
            try connection.waitUntilPeerCloses()
        }
        let backlog = try FullBacklog()
        var request = ApiRequest(url: server.url(), method: .put)
        switch phase {
        case .connecting:
            request.url = backlog.url
            arrived.open()
        case .handshake: request.url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        case .sending: request.body = .data(Data(count: 64 << 20))
        case .waiting, .receiving: break
        }
        let other = try LoopbackServer.responding { _ in .text("ok") }
        var configuration = CurlConfiguration()
        configuration.connectTimeout = .seconds(600)
        let provider = CurlProvider(configuration: configuration)
        let call = Task { [request] in try await provider.response(for: request) }
        try await arrived.opened()
        // By the time this has its answer, the loop has taken up the call before it.
        _ = try await provider.response(for: ApiRequest(url: other.url()))
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        _ = try await provider.response(for: ApiRequest(url: other.url()))
    }

    /// In a process of its own, where nobody else opens anything.
    @Test func leavesNothingBehind() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let server = try LoopbackServer { connection in
                while let request = try connection.readRequest() {
                    if request.target == "/silent" { return try connection.waitUntilPeerCloses() }
                    try connection.send(.text("ok"), answering: request)
                }
            }
            let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            let provider = CurlProvider(configuration: CurlConfiguration())
            for round in 0..<20 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            let target = number.isMultiple(of: 2) ? "/silent" : "/"
                            let call = Task {
                                _ = try await provider.response(for: ApiRequest(url: server.url(target)))
                            }
                            for _ in 0..<(number + round) { await Task.yield() }
                            call.cancel()
                            do { try await call.value } catch let error as ApiConnectorError
                                where error.kind == .cancelled
                            {}
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // What the loop is told now it does behind all that it was told before.
            _ = try await provider.response(for: ApiRequest(url: server.url()))
            let rest = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            server.stop()
            // Both ends of at most as many connections as there were calls at a time, and what a process has anyway.
            guard rest < before + 2 * 50 + 20 else { throw LoopbackError.timedOut("\(before) became \(rest)") }
        }
        // Empty unless the process trapped or threw; says why it did.
        #expect(String(decoding: result?.standardErrorContent.prefix(2000) ?? [], as: UTF8.self) == "")
    }

    @Test func endsItsThreadAndClosesItsDescriptorsWithTheLastReference() async {
        await #expect(processExitsWith: .success) {
            func count(_ folder: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
            }
            let server = try LoopbackServer.responding { _ in .text("ok") }
            // The first one starts what stays: the pool's threads, the timers of Dispatch.
            _ = try await CurlProvider(configuration: CurlConfiguration()).response(for: ApiRequest(url: server.url()))
            let before = try count("fd")
            for _ in 0..<100 {
                let provider = CurlProvider(configuration: CurlConfiguration())
                _ = try await provider.response(for: ApiRequest(url: server.url()))
            }
            // The threads end by themselves soon after; each connection's end says so to the server.
            for index in 0..<101 { try await server.connectionEnded(index) }
            for _ in 0..<10_000 where try count("fd") > before + 5 { await Task.yield() }
            let after = try count("fd")
            guard after <= before + 5 else { throw LoopbackError.timedOut("\(before) descriptors became \(after)") }
            let threads = try count("task")
            guard threads < 30 else { throw LoopbackError.timedOut("\(threads) threads are left") }
        }
    }
}

/// A port that a connection to neither succeeds nor fails: nobody accepts, and the queue is full.
private final class FullBacklog {
    let url: URL
    private var descriptors: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let url = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length)
                listen(listener, 0)
                getsockname(listener, generic, &length)
                let port = UInt16(bigEndian: pointer.pointee.sin_port)
                return try #require(URL(string: "http://127.0.0.1:\(port)/"))
            }
        }
        self.url = url
        for _ in 0..<4 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(client)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
#endif
