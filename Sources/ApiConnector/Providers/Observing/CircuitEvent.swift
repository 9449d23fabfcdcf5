// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What happens to the circuit of a host, as an observer is told it.
public enum CircuitEvent: String, Sendable, Hashable, CustomStringConvertible {
    /// The request failed, and the host is left alone from now on.
    case opened
    /// The request is let through to try whether the host is well again.
    case probing
    /// The request succeeded, and the host is asked as before.
    case closed
    /// The request is refused, for the host is left alone.
    case refused

    /// The name of the case.
    public var description: String { rawValue }
}
