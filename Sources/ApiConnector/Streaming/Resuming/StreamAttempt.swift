// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One connection of a stream: an object, because the stream's state moves with each batch.
final class StreamAttempt: Sendable {
    /// The call's request, with what its observers are told by, and with the attempts before it.
    let request: ApiRequest

    /// When its response was accepted.
    let start: Duration

    /// - Parameters:
    ///   - request: What the call would send again.
    ///   - sent: The request as the providers sent it.
    init(_ request: ApiRequest, sent: ApiRequest) {
        var request = request
        request.events = sent.events
        request.attempt = sent.attempt
        request.history = sent.history
        self.request = request
        start = request.timeSource.now
    }
}
