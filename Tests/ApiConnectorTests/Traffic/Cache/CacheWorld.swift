// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A clock, a server whose answer a test sets, and a connection through a cache in between.
final class CacheWorld: Sendable {
    typealias Answer = @Sendable (ApiRequest) throws -> TestConnectorResponse
    typealias Connection = NetworkConnector<AnyProvider, Endpoint<ApiPath>>

    let clock = ManualClock()
    let events = EventRecorder()
    private let seen = Locked<[ApiRequest]>([])
    private let answer = Locked<Answer>({ _ in .status(500) })

    /// The requests that the server got, in order.
    var requests: [ApiRequest] { seen.withLock { $0 } }

    /// The events of a cache and its neighbors.
    var hits: [String] { events.texts.filter { $0.hasPrefix("served") } }

    func answers(_ answer: @escaping Answer) {
        self.answer.withLock { $0 = answer }
    }

    /// The server says a text, and how long it is good.
    func says(_ text: String, _ control: String, _ headers: HTTPHeaders = HTTPHeaders(), status: HTTPStatus = 200) {
        var headers = headers
        headers[.cacheControl] = control
        let fields = headers
        answers { _ in .data(Data(text.utf8), status: status, headers: fields) }
    }

    var server: TestConnector<ClosureResponses> {
        TestConnector { [self] request in
            seen.withLock { $0.append(request) }
            return try answer.withLock { $0 }(request)
        }
    }

    func api(
        over provider: some DataRequestType,
        environment: Place = Place(),
        timeouts: Timeouts = .unlimited
    ) -> Connection {
        NetworkConnector(
            environment: environment,
            provider: AnyProvider(provider.observing(by: events)),
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        )
    }

    func api(storage: some CacheStorage = MemoryCacheStorage()) -> Connection {
        api(over: server.caching(in: storage))
    }
}

extension NetworkConnector where Router == Endpoint<ApiPath> {
    /// The text at a path, and how it came.
    func text(
        _ path: ApiPath = "/a",
        _ headers: HTTPHeaders = HTTPHeaders(),
        method: HTTPMethod = .get,
        use: CacheUse = .standard
    ) async -> String {
        do throws(ApiConnectorError) {
            var options = CallOptions(headers: headers)
            options.cacheUse = use
            let response = try await response(at: Endpoint(path: path, method: method), options: options)
            let body = try await response.body.collect(upTo: 1 << 20)
            let hit = response.cacheHit.map { ", \($0)" } ?? ""
            return String(decoding: body, as: UTF8.self) + hit
        } catch {
            return "\(error.kind) \(error.response?.status.rawValue ?? 0)"
        }
    }
}
