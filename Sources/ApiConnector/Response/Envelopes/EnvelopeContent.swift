// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The content of an envelope.
public enum EnvelopeContent<Value, Failure> {
    /// The requested value.
    case value(Value)
    /// The backend's own error.
    case failure(Failure)
}
