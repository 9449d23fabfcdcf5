// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if canImport(FoundationNetworking)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Callbacks that wait count before a time limit ends a call: an app that was suspended has not run them.
///
/// On Linux alone, where a `URLProtocol` may answer from any thread.
@Suite(.timeLimit(.minutes(10))) struct URLSessionSuspensionTests {}

extension URLSessionSuspensionTests {
    /// The session's queue stands still, as it does in a suspended app, while a response arrives and time passes.
    @Test(arguments: LateLimit.allCases)
    func aCallbackWaitingInTheQueueCountsBeforeALimit(_ limit: LateLimit) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [HeldResponse.self]
        let clock = SynchronousClock()
        let api = NetworkConnector<URLSessionProvider, Router>(
            environment: .localhost,
            provider: URLSessionProvider(configuration: configuration),
            configuration: ConnectionConfiguration(timeouts: limit.timeouts, timeSource: clock)
        )
        let stage = HeldResponse.Stage()
        let key = HeldResponse.add(stage)
        defer { HeldResponse.remove(key) }
        let url = try #require(URL(string: "http://held.example.com/\(key)/late"))
        let other = try #require(URL(string: "http://held.example.com/\(key)/other"))
        let call = Task { try await api.data(at: url) }
        try await stage.late.isAsked.opened()
        // Its response arrives in the session's queue, which then waits.
        let blocker = Task(executorPreference: InlineExecutor()) {
            _ = try await api.provider.response(for: ApiRequest(url: other))
            stage.queueStands.open()
            stage.mayGoOn.wait()
        }
        // The task has run on this thread until it waited.
        try await stage.other.isAsked.opened()
        stage.other.answer()
        try await stage.queueStands.opened()
        stage.late.answer()
        // The limit's action runs within this call.
        clock.advance(to: .seconds(60))
        stage.mayGoOn.signal()
        #expect(try await call.value == Data("late".utf8))
        try await blocker.value
    }
}

/// Answers `/KEY/late` and `/KEY/other` when the stage says so.
private final class HeldResponse: URLProtocol {
    /// One response.
    final class Held: Sendable {
        let isAsked = Gate("the request")
        private let send = Locked<(@Sendable () -> Void)?>(nil)

        func hold(_ send: @escaping @Sendable () -> Void) {
            self.send.withLock { $0 = send }
            isAsked.open()
        }

        func answer() { send.withLock { $0.take() }?() }
    }

    struct Stage: Sendable {
        let late = Held()
        let other = Held()
        let queueStands = Gate("the queue stands")
        let mayGoOn = DispatchSemaphore(value: 0)
    }

    private static let stages = Locked<[String: Stage]>([:])

    static func add(_ stage: Stage) -> String {
        let key = UUID().uuidString
        stages.withLock { $0[key] = stage }
        return key
    }

    static func remove(_ key: String) {
        stages.withLock { $0[key] = nil }
    }

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let parts = request.url?.pathComponents ?? []
        guard parts.count == 3, let stage = Self.stages.withLock({ $0[parts[1]] }) else { return answer("lost") }
        // Used once, by the test alone.
        nonisolated(unsafe) let load = self
        (parts[2] == "late" ? stage.late : stage.other).hold { load.answer(parts[2]) }
    }

    override func stopLoading() {}

    private func answer(_ text: String) {
        guard let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(text.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
#endif
