// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One connection of a stream.
///
/// It is a class, because a reference is cheap to move, and the state of a stream is moved with each batch.
final class StreamAttempt: Sendable {
    /// The call's request with its observers and the earlier attempts.
    let request: ApiRequest

    /// When the response was accepted.
    let start: Duration

    /// - Parameters:
    ///   - request: The call's request before redirects and wrappers.
    ///   - sent: The request as the providers sent it.
    init(_ request: ApiRequest, sent: ApiRequest) {
        var request = request
        request.joinObservers(of: sent)
        request.copyAttempts(of: sent)
        self.request = request
        start = request.timeSource.now
    }
}
