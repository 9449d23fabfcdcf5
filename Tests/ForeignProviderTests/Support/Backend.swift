// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Foundation
import Synchronization

/// A backend with two hosts.
struct Backend: ApiEnvironment {
    let host = "api.example.com"
    var scheme = HTTPScheme.http
}

/// Its endpoints.
struct Route: ApiRouter {
    typealias EnvironmentType = Backend

    var path: ApiPath
    var method = HTTPMethod.get
    var body = RequestBody.empty

    init(_ path: ApiPath, _ method: HTTPMethod = .get, _ body: RequestBody = .empty) {
        self.path = path
        self.method = method
        self.body = body
    }
}

typealias Connection = NetworkConnector<AnyProvider, Route>

extension DataRequestType {
    /// A connection over this provider, without limits on time unless some are given.
    func connected(
        on clock: ManualClock = ManualClock(),
        _ timeouts: Timeouts = .unlimited,
        _ observer: EventList = EventList()
    ) -> Connection {
        NetworkConnector(
            environment: Backend(),
            provider: AnyProvider(observing(by: observer)),
            configuration: ConnectionConfiguration(timeouts: timeouts, timeSource: clock)
        )
    }
}

extension ResponseStream {
    /// All elements.
    func all() async throws(ApiConnectorError) -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}

extension ManualClock {
    /// Moves the clock when something sleeps for as long.
    func pass(_ length: Duration) async throws {
        while try await nextSleep() != length {}
        advance(by: length)
    }
}

/// Counts what comes, and lets a test wait for it.
final class Arrivals: Sendable {
    private let count = Mutex(0)
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Records one, and says which it is, counted from 1.
    @discardableResult
    func note() -> Int {
        let number = count.withLock { count in
            count += 1
            return count
        }
        continuation.yield()
        return number
    }

    /// How many came.
    var total: Int { count.withLock { $0 } }

    /// Waits for the next one.
    func next() async {
        for await _ in stream { return }
    }
}
