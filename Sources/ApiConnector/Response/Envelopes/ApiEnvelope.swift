// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a backend wraps its values and reports its own errors; a router names the envelope of its backend.
///
/// ```swift
/// extension UsersRouter {
///     typealias EnvelopeType = DataEnvelope<CodedFailure>
/// }
/// ```
///
/// Your own envelope decodes a small struct and returns its content.
public protocol ApiEnvelope: SendableMetatype {
    /// The type of the backend's own error.
    associatedtype Failure: Sendable

    /// Whether an accepted response can contain a failure instead of a value; true by default.
    static var wrapsValues: Bool { get }

    /// Returns the content of an accepted response's body.
    ///
    /// - Throws: The error of the decoder if the body contains neither a value nor a failure; the call then fails with
    ///   kind `.decodingFailed`.
    static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, Failure>

    /// The failure in a rejected response; nil if the body does not contain one.
    static func failure(in body: Data, with decoder: JSONDecoder) -> Failure?
}

extension ApiEnvelope {
    /// True.
    public static var wrapsValues: Bool { true }
}
