// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A part of a body as it comes.
enum BodyStep: Sendable {
    case bytes(Data)
    case pause(Pause)
    case failure(ApiConnectorError)
    /// What a test feeds; at most `upTo` bytes, if the body is to break off there.
    case feed(BodyFeed, upTo: Int? = nil)
}

/// A time in which nothing comes; a class, so that an answer without one is no larger.
final class Pause: Sendable {
    let length: Duration
    let timeSource: any TimeSource

    init(length: Duration, timeSource: any TimeSource) {
        self.length = length
        self.timeSource = timeSource
    }

    /// Waits before a response's head, for as long as the call waits.
    func wait(of request: ApiRequest, _ exchange: Exchange?) async throws(ApiConnectorError) {
        let over = Eventual<Void>()
        let sleeping = sleep { over.set(()) }
        defer { sleeping.cancel() }
        try await Exchange.wait(for: over, of: request, until: exchange?.stopped)
    }

    /// Waits inside a body, until that is stopped.
    func wait(orUntil stopped: Eventual<ApiConnectorError>) async throws(ApiConnectorError) {
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
