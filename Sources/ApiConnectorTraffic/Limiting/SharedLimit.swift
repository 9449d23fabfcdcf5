// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A limit that several instances of a program share: a rate and a concurrency limit, or a retry budget; see
/// ``ApiConnector/DataRequestType/limiting(_:sharedAs:by:)`` and ``ApiConnector/DataRequestType/retrying(_:sharedAs:)``.
public struct SharedLimit: Sendable {
    /// The store of the tokens and places.
    public let state: any SharedState
    /// The limit's name: all instances use the same one, and each limit has its own.
    public let name: String
    /// The program's namespace.
    public let namespace: String
    /// How tokens and places are taken.
    public let policy: SharedLimitPolicy

    /// Makes a shared limit.
    ///
    /// - Parameters:
    ///   - name: The limit's name; it holds no secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The store of the tokens and places.
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

    func key(of lane: LimitLanes.Key) -> SharedStateKey {
        SharedStateKey("\(name)/\(lane.origin)/\(lane.routeClass)", in: namespace)
    }
}
