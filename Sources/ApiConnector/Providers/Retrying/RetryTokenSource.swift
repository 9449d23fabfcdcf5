// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The retries that hosts have left; see ``RetryPolicy/tokens``.
///
/// ``RetryBuckets`` counts them in this process. Another source can count them for several processes.
public protocol RetryTokenSource: Sendable {
    /// Adds the tokens that a call earns for its host.
    func earn(by request: ApiRequest)

    /// Takes a token for a retry; false if there is none.
    ///
    /// The retry waits for the result. It must not take longer than the request's deadline.
    func take(for request: ApiRequest) async -> Bool
}

extension RetryBuckets: RetryTokenSource {}
