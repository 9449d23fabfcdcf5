// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a backend wraps its values, and how it reports errors of its own; a router names it for its backend.
///
/// ```swift
/// extension UsersRouter {
///     typealias EnvelopeType = DataEnvelope<CodedFailure>
/// }
/// ```
///
/// One of your own decodes a small struct and says what it holds.
public protocol ApiEnvelope: SendableMetatype {
    /// The backend's own error, decoded.
    associatedtype Failure: Sendable

    /// Whether an accepted response can hold a failure in place of a value; yes by default.
    static var wrapsValues: Bool { get }

    /// What an accepted response's body holds.
    ///
    /// - Throws: What the decoder throws for a body that holds neither; the call then fails with kind
    ///   `.decodingFailed`.
    static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, Failure>

    /// The failure in a response that was not accepted; nil if the body does not hold one.
    static func failure(in body: Data, with decoder: JSONDecoder) -> Failure?
}

extension ApiEnvelope {
    /// Yes.
    public static var wrapsValues: Bool { true }
}
