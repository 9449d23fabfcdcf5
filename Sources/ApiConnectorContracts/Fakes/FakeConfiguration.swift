// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// The format of a ``FakeCollection``'s requests and answers.
public struct FakeConfiguration: Sendable {
    /// Decodes the bodies of requests; Foundation's defaults by default.
    public var decoder = JSONDecoder()

    /// Encodes the bodies of answers; Foundation's defaults by default.
    public var encoder = JSONEncoder()

    /// The envelope around each answer; ``/ApiConnector/BareEnvelope``, no envelope, by default.
    public var envelope: any (CannedEnvelope & SendableMetatype).Type = BareEnvelope<NoFailure>.self

    /// The field of an item's JSON that holds its id; `id` by default.
    public var idField = "id"

    /// The query item for the page number, counted from 1; `page` by default.
    public var pageItem = "page"

    /// The query item for the page size; `per_page` by default.
    public var pageSizeItem = "per_page"

    /// The page size if the query does not set it; 30 by default.
    public var pageItemCount = 30

    /// The JSON of an error, without the envelope; `{"code": 404, "message": "…"}` by default.
    public var failure: @Sendable (HTTPStatus, _ message: String) -> JSONValue = { status, message in
        ["code": .number(JSONNumber(status.rawValue)), "message": .string(message)]
    }

    /// Makes a configuration with the defaults.
    public init() {}

    func failureBody(_ status: HTTPStatus, _ sentence: String) -> Data {
        envelope.body(reporting: Data(failure(status, sentence).description.utf8))
    }

    func written(_ value: some Encodable) throws(FakeRefusal) -> Data {
        do {
            return envelope.body(holding: try encoder.encode(value))
        } catch {
            throw FakeRefusal(500, "A value of type \(type(of: value)) does not encode as JSON: \(error)")
        }
    }

    func json(of value: some Encodable) throws(FakeRefusal) -> JSONValue {
        guard let data = try? encoder.encode(value), let json = JSONValue(parsing: data) else {
            throw FakeRefusal(500, "A value of type \(type(of: value)) does not encode as JSON.")
        }
        return json
    }

    /// Changes the JSON of a request's body, and decodes a model from the result.
    func read<Model: Decodable>(
        _ type: Model.Type,
        from body: Data,
        _ change: (inout [String: JSONValue]) -> Void
    ) throws(FakeRefusal) -> Model {
        guard case .object(var fields)? = JSONValue(parsing: body) else {
            throw FakeRefusal(422, "The body is not a JSON object.")
        }
        change(&fields)
        do throws(ApiConnectorError) {
            return try JSONValue.object(fields).decoded(as: type, with: decoder)
        } catch {
            throw FakeRefusal(422, error.detail)
        }
    }
}

/// The reason why a fake refuses a request.
struct FakeRefusal: Error {
    let status: HTTPStatus
    let sentence: String
    let headers: HTTPHeaders

    init(_ status: HTTPStatus, _ sentence: String, _ headers: HTTPHeaders = HTTPHeaders()) {
        self.status = status
        self.sentence = sentence
        self.headers = headers
    }
}

extension JSONValue {
    /// This object with a merge patch applied (RFC 7396).
    func patched(by patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var fields = object ?? [:]
        for (key, change) in changes {
            fields[key] = change.isNull ? nil : (fields[key] ?? .null).patched(by: change)
        }
        return .object(fields)
    }
}
