// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorConformance
import ApiConnector
import ApiConnectorTesting
import Testing

struct URLSessionProviderTests {
    @Test func keepsThePromisesOfATransport() async {
        let target = ConformanceTarget.transport {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            return URLSessionProvider(configuration: configuration)
        }
        var exclusions = URLSessionProvider.conformanceExclusions
        #if Curl && os(Linux)
        if !Libcurl.hasAuthorities {
            for name in ConformanceCase.all.map(\.name) where name.contains("TLS") {
                exclusions[name] = "libcurl's file of trusted certificates is missing"
            }
        }
        #endif
        let report = await target.check(excluding: exclusions, within: .seconds(600))
        #expect(report.isPassed, "\(report)")
        #expect(report.exclusions.count == exclusions.count)
    }

    #if canImport(FoundationNetworking)
    /// Without the cases that end the process, and without the cases whose result varies.
    @Test(arguments: [
        "sends a repeated header field once for each value", "keeps repeated header fields separate",
        "sends the first chunk of a source before the source ends",
        "ends a canceled call while the body's source is idle, and releases the source",
        "applies back-pressure when the reader is slow",
        "accepts a status line without a reason phrase", "delivers the body of a redirect whose Location is not a URL",
    ])
    func needsItsExclusions(_ name: String) async {
        #expect(URLSessionProvider.conformanceExclusions[name] != nil)
        let target = ConformanceTarget.transport { URLSessionProvider(configuration: .ephemeral) }
        let report = await target.check(ConformanceCase.all.filter { $0.name == name }, within: .milliseconds(500))
        #expect(report.failures.map(\.name) == [name])
    }
    #endif

    @Test func knowsItsOwnTasksFromOthers() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        #expect(!URLSessionProvider.isBehind(session.dataTask(with: server.url())))

        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [TaskWitness.self]
        let response = try await URLSessionProvider(configuration: configuration).response(
            for: ApiRequest(url: server.url())
        )
        #expect(response.status == 299)
    }

    @Test func doesNotInvalidateAUsersSession() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let session = URLSession(configuration: .ephemeral)
        for _ in 0..<2 {
            let response = try await URLSessionProvider(session: session).response(for: ApiRequest(url: server.url()))
            #expect(response.status == 200)
        }
        let (data, _) = try await session.data(from: server.url())
        #expect(String(decoding: data, as: UTF8.self) == "ok")
    }

    #if canImport(FoundationNetworking)
    @Test("M19: asks no cache") func usesNoCache() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let configuration = URLSessionConfiguration.ephemeral
        let cache = CountingCache()
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration)
        for provider in [URLSessionProvider(configuration: configuration), URLSessionProvider(session: session)] {
            let response = try await provider.response(for: ApiRequest(url: server.url()))
            #expect(response.status == 200)
        }
        #expect(cache.count.withLock { $0 } == 0)
        _ = try await session.data(from: server.url())
        #expect(cache.count.withLock { $0 } == 1)
    }
    #endif

    /// A task keeps its delegate, so the delegate must not keep what it was for.
    @Test("M18: releases a finished request") func releasesAFinishedRequest() async throws {
        let server = try LoopbackServer.responding { _ in .text("ok") }
        let gone = Gate("end of the route")
        let provider = URLSessionProvider(configuration: .ephemeral)
        func call() async throws {
            let route = TracedRoute(trace: Trace(gone))
            let response = try await provider.response(for: ApiRequest(url: server.url(), route: route))
            #expect(response.status == 200)
        }
        try await call()
        try await gone.opened()
    }

    /// Half a second in URLSession's own timeout is 0 ms or a whole second on Linux; a provider has none.
    @Test("R4: leaves timeouts to the library") func leavesTimeoutsToTheLibrary() async throws {
        let gate = Gate()
        let server = try LoopbackServer { connection in
            guard let request = try connection.readRequest() else { return }
            try connection.wait(for: gate)
            try connection.send(.text("late"), answering: request)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.001
        let provider = URLSessionProvider(configuration: configuration)
        #expect(try URLRequest(ApiRequest(url: server.url())).timeoutInterval > 86_400)
        async let response = provider.response(for: ApiRequest(url: server.url()))
        _ = try await server.request(0)
        gate.open()
        #expect(try await response.status == 200)
    }
}

private final class Trace: Sendable {
    private let gone: Gate

    init(_ gone: Gate) { self.gone = gone }

    deinit { gone.open() }
}

private struct TracedRoute: ApiRouter {
    typealias EnvironmentType = Environment

    let trace: Trace

    var path: String { "/" }
}

#if canImport(FoundationNetworking)
/// Counts how often it is asked.
///
/// Unchecked, as its class is: a lock protects its own state.
private final class CountingCache: URLCache, @unchecked Sendable {
    let count = Locked(0)

    init() {
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        count.withLock { $0 += 1 }
        return nil
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @escaping (CachedURLResponse?) -> Void
    ) {
        count.withLock { $0 += 1 }
        completionHandler(nil)
    }
}
#endif

/// Answers the provider's own tasks with 299, and no other.
private final class TaskWitness: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let task, let url = request.url, URLSessionProvider.isBehind(task),
            let head = HTTPURLResponse(url: url, statusCode: 299, httpVersion: nil, headerFields: nil)
        else {
            client?.urlProtocol(self, didFailWithError: URLError(.unknown))
            return
        }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
