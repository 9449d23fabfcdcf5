// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// No envelope, the default of a router: the body is the value, or in a rejected response the failure.
///
/// A body that decodes as both is the value if the status is accepted.
public enum BareEnvelope<Failure: Decodable & Sendable>: ApiEnvelope {
    /// False: the body is the value.
    public static var wrapsValues: Bool { false }

    /// The body as the value.
    public static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, Failure> {
        .value(try decoder.decode(type, from: body))
    }

    /// The body as the failure.
    public static func failure(in body: Data, with decoder: JSONDecoder) -> Failure? {
        Failure.self == NoFailure.self ? nil : try? decoder.decode(Failure.self, from: body)
    }
}
