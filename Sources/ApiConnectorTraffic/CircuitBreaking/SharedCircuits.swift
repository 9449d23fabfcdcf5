// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Circuits that several instances of a program share; see
/// ``ApiConnector/DataRequestType/circuitBreaking(_:sharedAs:)``.
public struct SharedCircuits: Sendable {
    /// The shared state with the circuits.
    public let state: any SharedState
    /// The name of the circuits.
    ///
    /// All instances use the same name.
    public let name: String
    /// The program's namespace.
    public let namespace: String
    /// The time after which an instance that sends requests reads a circuit's record again.
    public let refreshInterval: Duration
    /// The longest time for one operation of the shared state.
    public let operationLimit: Duration

    /// Makes shared circuits.
    ///
    /// - Parameters:
    ///   - name: The name of the circuits; it must not contain a secret.
    ///   - namespace: The program's namespace; "ApiConnector" by default.
    ///   - state: The shared state with the circuits.
    ///   - refreshInterval: The time after which an instance that sends requests reads a circuit's record again; 1
    ///     second by default, at least 10 milliseconds.
    ///   - operationLimit: The longest time for one operation of the shared state; a quarter of a second by default.
    public init(
        named name: String,
        namespace: String = "ApiConnector",
        in state: any SharedState,
        refreshInterval: Duration = .seconds(1),
        operationLimit: Duration = .milliseconds(250)
    ) {
        self.state = state
        self.name = name
        self.namespace = namespace
        self.refreshInterval = max(refreshInterval, .milliseconds(10)).bounded
        self.operationLimit = operationLimit
    }

    func key(of origin: HTTPOrigin) -> SharedStateKey {
        SharedStateKey("\(name)/\(origin)", in: namespace)
    }
}
