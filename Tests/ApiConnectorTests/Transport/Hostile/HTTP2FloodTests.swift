// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Synchronization
import Testing

@testable import ApiConnector

/// libcurl does not return while a server sends HTTP/2 frames without data.
///
/// No limit of any call may wait for it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2FloodTests {
    private static let certificates = Result { try TLSCertificates() }

    private static func provider(_ flood: HTTP2Flood) throws -> CurlProvider {
        var configuration = CurlConfiguration.patient
        configuration.proxy = .none
        if flood.isSecure {
            configuration.certificateAuthorityFile = try certificates.get().authority
        } else {
            configuration.httpVersion = .http2PriorKnowledge
        }
        return CurlProvider(configuration: configuration)
    }

    private static func api(
        _ provider: CurlProvider,
        _ timeouts: Timeouts,
        _ clock: SynchronousClock
    ) -> NetworkConnector<CurlProvider, Router> {
        NetworkConnector(
            environment: .localhost,
            provider: provider,
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        )
    }

    private static func kind(of call: () async throws(ApiConnectorError) -> Data) async -> ApiConnectorError.Kind? {
        do throws(ApiConnectorError) {
            _ = try await call()
            return nil
        } catch {
            return error.kind
        }
    }

    /// The loop may return from libcurl meanwhile, if the server sends more slowly than libcurl reads.
    ///
    /// In ``everyLimitFiresWhileTheLoopIsBusy(_:)``, it provably does not.
    @Test(.needsHTTP2, arguments: HTTP2Flood.all, LateLimit.allCases)
    func everyLimitFiresDuringAFlood(_ flood: HTTP2Flood, _ limit: LateLimit) async throws {
        let hostile = try HTTP2FloodServer(flood, Self.certificates.get())
        let healthy = try LoopbackServer { try $0.waitUntilPeerCloses() }
        let provider = try Self.provider(flood)
        let clock = SynchronousClock()
        let api = Self.api(provider, limit.timeouts, clock)
        let (hostileURL, healthyURL) = (hostile.url, healthy.url())

        let hostileKind = Task {
            await Self.kind { () throws(ApiConnectorError) in try await api.data(at: hostileURL) }
        }
        try await hostile.isFlooding.opened()
        // The call has started when the task waits for the first time.
        let healthyKind = Task(executorPreference: InlineExecutor()) {
            await Self.kind { () throws(ApiConnectorError) in try await api.data(at: healthyURL) }
        }
        let kinds = await Self.advancing(clock) { (await healthyKind.value, await hostileKind.value) }
        #expect(kinds.0 == limit.kind)
        // The watch may end the flood before the limit, and libcurl refuses some floods by itself.
        let expected: [ApiConnectorError.Kind?] =
            flood.isRefused ? [limit.kind, .malformedResponse, .connectionLost] : [limit.kind, .malformedResponse]
        #expect(expected.contains(kinds.1))
        withExtendedLifetime((hostile, healthy)) {}
    }

    /// Waits for a value while time passes.
    private static func advancing<Value: Sendable>(
        _ clock: SynchronousClock,
        _ value: @escaping @Sendable () async -> Value
    ) async -> Value {
        let timePasses = Task {
            while !Task.isCancelled {
                clock.advance(to: clock.now + .seconds(60))
                await Task.yield()
            }
        }
        defer { timePasses.cancel() }
        return await value()
    }

    /// The loop's thread provably does not return to its commands: it computes until both calls have ended.
    @Test(arguments: LateLimit.allCases)
    func everyLimitFiresWhileTheLoopIsBusy(_ limit: LateLimit) async throws {
        let (received, mayAnswer) = (Gate("request"), Gate("other call"))
        let (isBusy, isFree) = (Gate("busy loop"), Gate("free loop"))
        let haveEnded = Atomic(false)
        let hasReturned = Locked(false)
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            if request.target == "/other" {
                try connection.wait(for: mayAnswer)
                return try connection.send(.text("other"), answering: request)
            }
            received.open()
            try connection.waitUntilPeerCloses()
        }
        let provider = CurlProvider(configuration: .patient)
        let clock = SynchronousClock()
        let api = Self.api(provider, limit.timeouts, clock)
        let (url, other) = (server.url(), server.url("/other"))
        let early = Task { await Self.kind { () throws(ApiConnectorError) in try await api.data(at: url) } }
        try await received.opened()
        // Its response arrives on the loop's thread, on which the task then goes on.
        let busy = Task(executorPreference: InlineExecutor()) {
            _ = try await provider.response(for: ApiRequest(url: other))
            isBusy.open()
            while !haveEnded.load(ordering: .acquiring) {}
        }
        mayAnswer.open()
        try await isBusy.opened()
        let queue = try provider.engine.startedQueue()
        queue.post(
            .readPending {
                hasReturned.withLock { $0 = true }
                isFree.open()
            }
        )
        let late = Task(executorPreference: InlineExecutor()) {
            await Self.kind { () throws(ApiConnectorError) in try await api.data(at: url) }
        }
        clock.advance(to: .seconds(60))
        #expect(await early.value == limit.kind)
        #expect(await late.value == limit.kind)
        let hasReturnedMeanwhile = hasReturned.withLock { $0 }
        #expect(!hasReturnedMeanwhile)
        haveEnded.store(true, ordering: .releasing)
        try await busy.value
        try await isFree.opened()
        withExtendedLifetime(server) {}
    }

    /// A call to another server succeeds although nothing limits it.
    @Test(.needsHTTP2, arguments: [false, true])
    func aHealthyCallSucceedsDuringAFlood(isSecure: Bool) async throws {
        let flood = HTTP2Flood(frames: .windowUpdate, isSecure: isSecure, isAfterHead: true)
        let hostile = try HTTP2FloodServer(flood, Self.certificates.get())
        let healthy = try LoopbackServer.healthy(isSecure ? .http1 : .http2)
        let provider = try Self.provider(flood)
        let hostileURL = hostile.url
        let call = Task { try await provider.response(for: ApiRequest(url: hostileURL)) }
        try await hostile.isFlooding.opened()
        let response = try await provider.response(for: ApiRequest(url: healthy.url()))
        #expect(try await response.body.collect(upTo: 100) == Data("ok".utf8))
        if !Libcurl.readsWithoutEnd { call.cancel() }
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        if error?.kind == .cancelled, !Libcurl.readsWithoutEnd { return withExtendedLifetime((hostile, healthy)) {} }
        #expect(error?.kind == .malformedResponse)
        // If libcurl reads faster than the server sends, the updates exceed the window in the end, which is a violation.
        #expect(error?.detail.hasSuffix(", so the connection was closed") == true)
        withExtendedLifetime((hostile, healthy)) {}
    }

    /// The provider is usable again: the connection of the flood is closed, although its server still sends.
    @Test(.needsHTTP2, arguments: HTTP2Flood.all.filter { !$0.isRefused })
    func aFloodEndsWithItsCall(_ flood: HTTP2Flood) async throws {
        let hostile = try HTTP2FloodServer(flood, Self.certificates.get())
        let healthy = try LoopbackServer.healthy(flood.isSecure ? .http1 : .http2)
        let provider = try Self.provider(flood)
        let hostileURL = hostile.url
        let call = Task { try await provider.response(for: ApiRequest(url: hostileURL)) }
        try await hostile.isFlooding.opened()
        call.cancel()
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        // nghttp2's latest versions take a flood for a violation; only libcurl 8.16 and later came with one.
        let isViolation = Libcurl.version >= 0x08_10_00 && error?.kind == .malformedResponse
        #expect(error?.kind == .cancelled || isViolation, "\(error?.detail ?? "")")
        let response = try await provider.response(for: ApiRequest(url: healthy.url()))
        #expect(try await response.body.collect(upTo: 100) == Data("ok".utf8))
        withExtendedLifetime((hostile, healthy)) {}
    }

    /// A lone call runs on its caller's thread, which may be the only one that runs limits.
    @Test(
        .enabled(if: Libcurl.readsWithoutEnd, "this version of libcurl returns during a flood"),
        arguments: [false, true]
    )
    func aFloodOnAnOpenConnectionDoesNotKeepTheCallersThread(isSecure: Bool) async throws {
        let flood = HTTP2Flood(frames: .windowUpdate, isSecure: isSecure, isAfterHead: true)
        for _ in 0..<20 {
            let hostile = try HTTP2FloodServer(flood, Self.certificates.get(), afterResponses: 1)
            let provider = try Self.provider(flood)
            let request = ApiRequest(url: hostile.url)
            // On a busy machine, libcurl may read the flood in the same call as the end of the first response. The watch
            // then ends that call, and no connection is open.
            guard (try? await provider.response(for: request)) != nil else { continue }
            // There is neither a limit nor a cancellation: only the watch can end the call on this thread.
            let call = Task(executorPreference: InlineExecutor()) { try await provider.response(for: request) }
            do {
                _ = try await call.value
                // libcurl has read the reset of the connection that was shut down, and has sent the GET again. The new
                // connection answers one request.
            } catch let error as ApiConnectorError {
                #expect([.malformedResponse, .connectionLost].contains(error.kind), "\(error)")
                return withExtendedLifetime(hostile) {}
            }
        }
        Issue.record("no call failed on a connection with a flood")
    }
}
#endif
