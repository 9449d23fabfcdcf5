// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Shared state for a limit that several instances of a program share.
///
/// The limit is a rate, a concurrency limit or both, or a retry budget. See
/// ``ApiConnector/DataRequestType/limiting(_:sharedAs:by:)`` and
/// ``ApiConnector/DataRequestType/retrying(_:sharedAs:)``.
public struct SharedLimit: Sendable {
    /// The shared state with the tokens and places.
    public let state: any SharedState
    /// The limit's name.
    ///
    /// All instances use the same name, and each limit has a different one.
    public let name: String
    /// The program's namespace.
    public let namespace: String
    /// How tokens and places are taken.
    public let policy: SharedLimitPolicy

    /// Makes a shared limit.
    ///
    /// - Parameters:
    ///   - name: The limit's name; it must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state with the tokens and places.
    ///   - policy: How tokens and places are taken.
    public init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        policy: SharedLimitPolicy = SharedLimitPolicy()
    ) {
        self.state = state
        self.name = name
        self.namespace = namespace
        self.policy = policy
    }

    func key(of queue: LimitQueues.Key) -> SharedStateKey {
        SharedStateKey("\(name)/\(queue.origin)/\(queue.routeClass)", in: namespace)
    }
}
