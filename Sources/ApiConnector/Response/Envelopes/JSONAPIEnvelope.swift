// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The envelope `{"data": …}` or `{"errors": […]}` of JSON:API 1.1, for any status.
///
/// Null, missing or empty `errors` are not a failure.
public enum JSONAPIEnvelope<ErrorObject: Decodable & Sendable>: ApiEnvelope {
    /// The error objects, at least one.
    public typealias Failure = [ErrorObject]

    /// The failure at `errors` if there is one, otherwise the value at `data`.
    public static func open<Value: Decodable>(
        _ type: Value.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> EnvelopeContent<Value, Failure> {
        if let failure = try decoder.decode(KeyedFailure<Failure, Keys>.self, from: body).failure, !failure.isEmpty {
            return .failure(failure)
        }
        return .value(try decoder.decode(KeyedValue<Value>.self, from: body).data)
    }

    /// The failure at `errors`.
    public static func failure(in body: Data, with decoder: JSONDecoder) -> Failure? {
        let failure = try? decoder.decode(KeyedFailure<Failure, Keys>.self, from: body).failure
        return failure?.isEmpty == false ? failure : nil
    }

    enum Keys: String, EnvelopeKeys {
        case value = "data"
        case failure = "errors"
    }
}

/// An object with a value at `data`, which may be missing if its type is optional.
private struct KeyedValue<Value: Decodable>: Decodable {
    let data: Value

    enum CodingKeys: CodingKey { case data }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        if !object.contains(.data), let absent = AbsentValue.of(Value.self) {
            data = absent
        } else {
            data = try object.decode(Value.self, forKey: .data)
        }
    }
}
