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

/// An error object of JSON:API 1.1.
public struct JSONAPIError: ApiModel, Error, Hashable {
    /// The identifier of this occurrence.
    public var id: String?
    /// The HTTP status, as text.
    public var status: String?
    /// The backend's code.
    public var code: String?
    /// A short description of the kind of problem.
    public var title: String?
    /// A description of this occurrence.
    public var detail: String?
    /// The part of the request that caused the error.
    public var source: Source?

    /// The part of a request that caused an error.
    public struct Source: ApiModel, Hashable {
        /// A JSON pointer into the request's body.
        public var pointer: String?
        /// The name of a query item.
        public var parameter: String?
        /// The name of a header field.
        public var header: String?

        /// Makes a source.
        public init(pointer: String? = nil, parameter: String? = nil, header: String? = nil) {
            self.pointer = pointer
            self.parameter = parameter
            self.header = header
        }
    }

    /// Makes an error object, for example for a test.
    public init(
        id: String? = nil,
        status: String? = nil,
        code: String? = nil,
        title: String? = nil,
        detail: String? = nil,
        source: Source? = nil
    ) {
        self.id = id
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.source = source
    }
}
