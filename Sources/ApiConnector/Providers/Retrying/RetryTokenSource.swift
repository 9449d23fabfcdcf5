// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A source of tokens for retries; see ``RetryPolicy/tokens``.
///
/// ``RetryBuckets`` counts the tokens of each host in this process. Another source can share them between processes.
public protocol RetryTokenSource: Sendable {
    /// Adds the tokens that a call earns for its host.
    func earn(by request: ApiRequest)

    /// Takes a token for a retry; returns false if there is none.
    ///
    /// The retry waits for the result. Do not wait beyond the request's deadline.
    func take(for request: ApiRequest) async -> Bool
}

extension RetryBuckets: RetryTokenSource {}
