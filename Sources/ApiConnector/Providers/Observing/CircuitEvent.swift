// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An event of a host's circuit breaker.
public enum CircuitEvent: String, Sendable, Hashable, CustomStringConvertible {
    /// The request failed, and the circuit opened.
    case opened
    /// The request tests whether the host has recovered.
    case probing
    /// The request succeeded, and the circuit closed.
    case closed
    /// The request was rejected because the circuit is open.
    case refused

    /// The name of the case.
    public var description: String { rawValue }
}
