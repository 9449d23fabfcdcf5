// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The envelope `{"data": …}` or `{"error": …}`, for any status: a 200 with an `error` is a failure.
///
/// A null or missing `error` is not a failure.
public enum DataEnvelope<Failure: Decodable & Sendable>: ApiEnvelope {
    /// The failure at `error` if there is one, otherwise the value at `data`.
    public static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, Failure> {
        let wrapper = try decoder.decode(KeyedEnvelope<Value, Failure, Keys>.self, from: body)
        return wrapper.content
    }

    /// The failure at `error`.
    public static func failure(in body: Data, with decoder: JSONDecoder) -> Failure? {
        try? decoder.decode(KeyedFailure<Failure, Keys>.self, from: body).failure
    }

    enum Keys: String, EnvelopeKeys {
        case value = "data"
        case failure = "error"
    }
}
