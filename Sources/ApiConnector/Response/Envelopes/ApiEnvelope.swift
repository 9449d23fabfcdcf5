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

/// The content of an envelope.
public enum EnvelopeContent<Value, Failure> {
    /// The requested value.
    case value(Value)
    /// The backend's own error.
    case failure(Failure)
}

/// The failure type of a backend that defines none; it has no values.
public enum NoFailure: Decodable, Sendable {
    /// Always throws.
    public init(from decoder: any Decoder) throws {
        let context = DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "The router declares no failure type."
        )
        throw DecodingError.dataCorrupted(context)
    }
}

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

/// `{"code": …, "message": …}`, a common format of errors.
public struct CodedFailure: ApiModel, Error, Hashable {
    /// The backend's error code.
    public let code: Int

    /// The backend's error message.
    public let message: String

    /// Makes a failure, for example for a test.
    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}

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
