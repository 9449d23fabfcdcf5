// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

/// Calls for the inspector: slow phases, retries, a redirect, a stream and failures.
package struct InspectedTraffic<Transport: DataRequestType>: Sendable {
    private let transport: Transport

    /// Makes the traffic over a provider that directly wraps the transport.
    package init(provider: Transport) {
        transport = provider
    }

    /// Makes each call once, one after the other.
    package func run(on location: ServerLocation) async {
        let retrying = transport.retrying(RetryPolicy(maximumAttemptCount: 3, initialDelay: .milliseconds(120)))
        let played = NetworkConnector(
            environment: BackendEnvironment(location: location, name: "played"),
            provider: retrying,
            router: PlayedRouter.self
        )
        for route in PlayedRouter.allCases { _ = try? await played.data(at: route) }
        let users = UserConnection(environment: .users(on: location), provider: retrying)
        _ = await users.userInfo(id: "1")
        let feed = NetworkConnector(environment: .feed(on: location), provider: transport, router: FeedRouter.self)
        do {
            for try await _ in feed.stream(at: .comments(millisecondsApart: 150), as: .events) {}
        } catch {
            // The page shows the error.
        }
    }
}

/// Routes that ``Played`` answers itself.
package enum PlayedRouter: String, ApiRouter, CaseIterable {
    package typealias EnvironmentType = BackendEnvironment

    case menu, slowName, slowTLS, busy, old, new, missing, lost
}

/// A provider that answers the routes of ``PlayedRouter`` itself, with simulated phases.
package struct Played<Wrapped: DataRequestType>: DataRequestType {
    fileprivate let wrapped: Wrapped

    /// Answers a simulated route, or passes the request to the wrapped provider.
    package func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let path = request.url.path(percentEncoded: false)
        guard path.contains("/played/"), let route = PlayedRouter(rawValue: request.url.lastPathComponent) else {
            return try await wrapped.response(for: request)
        }
        let times = route.times
        do {
            try await request.timeSource.sleep(until: request.timeSource.now + times.total)
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
        let record = TransportTimesRecord()
        record.update { $0 = times }
        guard route != .lost else {
            var error = ApiConnectorError(.connectionLost, "the server closed the connection", request: request)
            error.timesRecord = record
            throw error
        }
        let body = Data(#"{"route":"\#(route.rawValue)","teas":[{"name":"green"},{"name":"black"}]}"#.utf8)
        var response = ApiResponse(
            to: request,
            status: route.status(attempt: request.attempt),
            headers: route.headers(request.url),
            body: ResponseBody(body)
        )
        response.timesRecord = record
        return response
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to simulate the routes of ``PlayedRouter``.
    package func played() -> Played<Self> { Played(wrapped: self) }
}

extension PlayedRouter {
    fileprivate func status(attempt: Int) -> HTTPStatus {
        switch self {
        case .busy: attempt < 3 ? 503 : 200
        case .old: 302
        case .missing: 404
        default: 200
        }
    }

    fileprivate func headers(_ url: URL) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": "application/json", "Set-Cookie": "session=4f2a91c7d0; HttpOnly"]
        if self == .old { headers[.location] = url.deletingLastPathComponent().appending(path: "new").path() }
        return headers
    }

    fileprivate var times: TransportTimes {
        var times = TransportTimes()
        times[.waiting] = .milliseconds(1)
        times[.nameLookup] = .milliseconds(self == .slowName ? 900 : 6)
        times[.connecting] = .milliseconds(12)
        times[.tlsHandshake] = .milliseconds(self == .slowTLS ? 700 : 25)
        times[.sending] = .milliseconds(2)
        times[.responseWait] = .milliseconds(self == .busy ? 160 : 45)
        if self != .lost { times[.receiving] = .milliseconds(20) }
        times.isConnectionReused = false
        times.httpVersion = "2"
        times.tlsVersion = "1.3"
        times.remoteAddress = "203.0.113.7"
        times.remotePort = 443
        return times
    }
}
