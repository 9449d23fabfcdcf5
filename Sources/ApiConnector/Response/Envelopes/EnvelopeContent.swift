// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What an envelope holds.
public enum EnvelopeContent<Value, Failure> {
    /// What was asked for.
    case value(Value)
    /// An error of the backend's own.
    case failure(Failure)
}
