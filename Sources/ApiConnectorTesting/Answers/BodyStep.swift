// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A step of a body's delivery.
package enum BodyStep: Sendable {
    case bytes(Data)
    case pause(Pause)
    case failure(ApiConnectorError)
    /// The pieces that a test feeds. If the body must break off, at most `upTo` bytes are delivered.
    case feed(BodyFeed, upTo: Int? = nil)
}

/// A pause in the delivery.
///
/// It is a class, because a struct would make all answers larger, even those without a pause.
package final class Pause: Sendable {
    package let length: Duration
    package let timeSource: any TimeSource

    package init(length: Duration, timeSource: any TimeSource) {
        self.length = length
        self.timeSource = timeSource
    }

    /// Waits before a response's head, unless the call ends first.
    package func wait(of request: ApiRequest, _ exchange: OpenExchange?) async throws(ApiConnectorError) {
        let over = Eventual<Void>()
        let sleeping = sleep { over.set(()) }
        defer { sleeping.cancel() }
        try await OpenExchange.wait(for: over, of: request, until: exchange?.stopped)
    }

    /// Waits inside a body, unless the body is stopped first.
    package func wait(orUntil stopped: Eventual<ApiConnectorError>) async throws(ApiConnectorError) {
        let end = Eventual<ApiConnectorError?>()
        let sleeping = sleep { end.set(nil) }
        let watch = stopped.whenSet { end.set($0) }
        defer {
            stopped.forget(watch)
            sleeping.cancel()
        }
        if let error = await end.value() { throw error }
    }

    private func sleep(_ onEnd: @escaping @Sendable () -> Void) -> Task<Void, any Error> {
        let due = timeSource.now + length
        return Task { [timeSource] in
            try await timeSource.sleep(until: due)
            onEnd()
        }
    }
}
