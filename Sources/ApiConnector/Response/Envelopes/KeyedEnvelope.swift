// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The two keys of an envelope that is a JSON object.
protocol EnvelopeKeys: CodingKey {
    static var value: Self { get }
    static var failure: Self { get }
}

/// An object with a value at one key or a failure at another.
struct KeyedEnvelope<Value: Decodable, Failure: Decodable, Keys: EnvelopeKeys>: Decodable {
    let content: EnvelopeContent<Value, Failure>

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Keys.self)
        if let failure = try object.decodeIfPresent(Failure.self, forKey: .failure) {
            content = .failure(failure)
        } else if !object.contains(.value), let absent = AbsentValue.of(Value.self) {
            content = .value(absent)
        } else {
            content = .value(try object.decode(Value.self, forKey: .value))
        }
    }
}

/// An object with a failure at a key.
struct KeyedFailure<Failure: Decodable, Keys: EnvelopeKeys>: Decodable {
    let failure: Failure?

    init(from decoder: any Decoder) throws {
        failure = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Failure.self, forKey: .failure)
    }
}
