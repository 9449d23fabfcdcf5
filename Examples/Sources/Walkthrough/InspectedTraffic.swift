// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector
package import Backends

/// Calls for the inspector: slow phases, retries, a redirect, a stream and failures.
///
/// The slow name lookup and the slow TLS handshake are simulated, because a server on this machine has neither. All
/// other exchanges take place.
package struct InspectedTraffic<Transport: DataRequestType>: Sendable {
    private let transport: Transport
    private let delay: Duration

    /// Makes the traffic over a provider that directly wraps the transport.
    ///
    /// - Parameters:
    ///   - provider: The provider.
    ///   - delay: How long the server waits before the first byte of its slow response; 0.8 seconds by default.
    package init(provider: Transport, delay: Duration = .milliseconds(800)) {
        transport = provider
        self.delay = delay
    }

    /// Makes each call once, one after the other.
    package func run(on location: ServerLocation) async {
        let retrying = transport.retrying(RetryPolicy(maximumAttemptCount: 3, initialDelay: .milliseconds(120)))
        let tea = NetworkConnector(environment: .tea(on: location), provider: retrying, router: TeaRouter.self)
        let simulated = NetworkConnector(
            environment: BackendEnvironment(location: location, name: "simulated"),
            provider: retrying,
            router: SimulatedRouter.self
        )
        let milliseconds = Int(delay / .milliseconds(1))
        _ = try? await tea.data(at: .menu)
        for route in SimulatedRouter.allCases { _ = try? await simulated.data(at: route) }
        let routes = [TeaRouter.slow(milliseconds: milliseconds), .busy, .old, .missing, .lost]
        for route in routes { _ = try? await tea.data(at: route) }
        let orders = OrderService(environment: .orders(on: location), provider: retrying)
        _ = await orders.create(OrderRequest(customerId: "c1", itemNumber: "A-1", quantity: 2))
        let feed = NetworkConnector(environment: .feed(on: location), provider: transport, router: FeedRouter.self)
        let events = StreamFormat<ServerSentEvent>.events.resuming(RetryPolicy(initialDelay: .milliseconds(200)))
        do {
            for try await _ in feed.stream(at: .comments(millisecondsApart: milliseconds / 5), as: events) {}
        } catch {
            // The page shows the error.
        }
    }
}

/// Routes that ``Simulated`` answers itself.
package enum SimulatedRouter: String, ApiRouter, CaseIterable {
    package typealias EnvironmentType = BackendEnvironment

    case slowName, slowTLS
}

/// A provider that answers the routes of ``SimulatedRouter`` itself, with simulated phases.
package struct Simulated<Wrapped: DataRequestType>: DataRequestType {
    fileprivate let wrapped: Wrapped
    fileprivate let delay: Duration

    /// Answers a simulated route, or passes the request to the wrapped provider.
    package func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let path = request.url.path(percentEncoded: false)
        guard path.contains("/simulated/"), let route = SimulatedRouter(rawValue: request.url.lastPathComponent) else {
            return try await wrapped.response(for: request)
        }
        let times = route.times(delay)
        do {
            try await request.timeSource.sleep(until: request.timeSource.now + times.total)
        } catch {
            throw ApiConnectorError(mapping: error, request: request)
        }
        let record = TransportTimesRecord()
        record.update { $0 = times }
        var response = ApiResponse(
            to: request,
            status: 200,
            headers: ["Content-Type": "application/json"],
            body: ResponseBody(Data(#"{"simulated":"\#(route.rawValue)"}"#.utf8))
        )
        response.timesRecord = record
        return response
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to simulate the routes of ``SimulatedRouter``.
    ///
    /// - Parameter delay: The length of the slow phases; 0.8 seconds by default.
    package func simulatingSlowPhases(lasting delay: Duration = .milliseconds(800)) -> Simulated<Self> {
        Simulated(wrapped: self, delay: delay)
    }
}

extension SimulatedRouter {
    fileprivate func times(_ delay: Duration) -> TransportTimes {
        var times = TransportTimes()
        times[.waiting] = .milliseconds(1)
        times[.nameLookup] = self == .slowName ? delay : .milliseconds(6)
        times[.connecting] = .milliseconds(12)
        times[.tlsHandshake] = self == .slowTLS ? delay : .milliseconds(25)
        times[.sending] = .milliseconds(2)
        times[.responseWait] = .milliseconds(45)
        times[.receiving] = .milliseconds(20)
        times.isConnectionReused = false
        times.httpVersion = "2"
        times.tlsVersion = "1.3"
        times.remoteAddress = "203.0.113.7"
        times.remotePort = 443
        return times
    }
}
