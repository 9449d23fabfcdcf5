// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// A backend that answers each operation of an OpenAPI document.
///
/// ```swift
/// let backend = try FakeBackend(openAPI: fixtures.appending(path: "shop.json"))
/// let shop = NetworkConnector(environment: .production, provider: TestConnector(backend), router: ShopRouter.self)
/// ```
///
/// The answer is the operation's first successful response. Its body is the document's example if the schema accepts
/// it, otherwise a value generated from the schema. An example with an integer of more than 64 bits is not used, unless
/// the schema's format is `uint64`. The same seed and request always give the same answer. The backend has no state.
/// For a stateful fake, use ``FakeCollection``.
///
/// A redirect leads to `https://redirected.example.com`. The backend answers a request to that host with some bytes.
///
/// A request that violates the document fails. The error lists the violations that ``Contract`` would report.
public struct FakeBackend: ResponseSource {
    private let document: OpenAPIDocument
    private let seed: UInt64
    /// Selects the response of each operation by its key in `responses`, such as `404` or `4XX`.
    ///
    /// Nil selects the first successful response.
    private let responseKey: String?

    /// Reads an OpenAPI document of version 3.0, 3.1 or 3.2 in JSON.
    ///
    /// - Parameters:
    ///   - file: The document. `apiconnector-openapi convert` converts a document in YAML or in several files to one
    ///     JSON file.
    ///   - seed: The seed of the generated values; 1 by default.
    ///   - ignored: JSON pointers in the document, such as `#/components/schemas/Tea/properties/note`; violations
    ///     inside them are not reported. None by default.
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.decodingFailed` if the file is not such a document, or
    ///   if a `$ref` outside of its schemas leads to nothing.
    public init(
        openAPI file: URL,
        seed: UInt64 = 1,
        ignoring ignored: Set<String> = []
    ) throws(ApiConnectorError) {
        self.init(try OpenAPIDocument(contentsOf: file, ignoring: ignored), seed: seed)
    }

    /// The host that redirects lead to.
    static let redirectedHost = "redirected.example.com"

    init(_ document: OpenAPIDocument, seed: UInt64 = 1, responseKey: String? = nil) {
        self.document = document
        self.seed = seed
        self.responseKey = responseKey
    }

    /// Answers a request.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.unmatched` for a request that violates the document,
    ///   with each violation, and for a schema for which no value can be generated.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        if request.url.host() == Self.redirectedHost { return .data(Data([1, 2, 3])) }
        let sent = RecordedRequest(number: 1, request: request, body: try await request.collectedBody())
        func refused(_ violations: [ContractViolation]) -> ApiConnectorError {
            let list = violations.map(\.description).joined(separator: "; ")
            return ApiConnectorError(.unmatched, "it violates \(document.name): \(list)", request: request)
        }
        switch document.operations(for: request) {
        case .failure(let violation):
            throw refused([violation])
        case .success(let candidates):
            var first: [ContractViolation]?
            for candidate in candidates {
                let violations = document.violations(of: sent, candidate)
                guard violations.isEmpty else {
                    if first == nil { first = violations }
                    continue
                }
                let key = "\(request.method) \(request.url.absoluteString)"
                var answer = DocumentedAnswer(candidate.operation, document, KeyedRandom(seed, key), responseKey)
                let response = answer.response(accepting: request.headers[.accept])
                if let flaw = answer.values.flaw {
                    throw ApiConnectorError(
                        .unmatched,
                        "\(document.name) has no example for the answer, and no value could be generated for it: "
                            + "\(flaw.sentence) (\(flaw.schema)); add an example to the document",
                        request: request
                    )
                }
                return response
            }
            throw refused(first ?? [])
        }
    }
}

/// Makes the answer to one request.
private struct DocumentedAnswer {
    let operation: DocumentedOperation
    let responseKey: String?
    var values: SchemaValues

    init(
        _ operation: DocumentedOperation,
        _ document: OpenAPIDocument,
        _ random: KeyedRandom,
        _ responseKey: String?
    ) {
        self.operation = operation
        self.responseKey = responseKey
        values = SchemaValues(checker: document.checker(.response), random: random)
    }

    mutating func response(accepting accept: String?) -> TestConnectorResponse {
        guard let (status, response) = chosen else { return .status(204) }
        var headers: HTTPHeaders = [:]
        for (name, node) in response["headers"]?.members ?? [] {
            guard let node = node.resolved, node.isTrue("required"), name.lowercased() != "content-type" else {
                continue
            }
            headers[HTTPHeaders.Name(name)] = text(of: values.value(for: node["schema"], examples: examples(of: node)))
        }
        if status.isRedirection, status != 304, !headers.contains(.location) {
            headers[.location] = "https://\(FakeBackend.redirectedHost)/"
        }
        let ranges = accept.map { MediaType.ranges(in: $0) } ?? [.any]
        let content = (response["content"]?.members ?? []).compactMap { entry -> (MediaType, JSONNode)? in
            guard let type = MediaType(entry.key), let node = entry.node.resolved else { return nil }
            return type.isRefused(by: ranges) ? nil : (type, node)
        }
        // The first range is the one that the caller prefers.
        let accepted = ranges.preferred.lazy.map { range in
            content.filter { $0.0.matches(range) || range.matches($0.0) }
        }
        let usable = accepted.first { !$0.isEmpty } ?? content
        guard let (type, media) = usable.first(where: { $0.0.isJSON }) ?? usable.first else {
            return .status(status, headers: headers)
        }
        let concrete = type.concrete
        headers[.contentType] = concrete.description
        return .data(body(concrete, media), status: status, headers: headers)
    }

    /// The response with the chosen key.
    ///
    /// Without a key, it is the first response whose key is a successful status code, `2XX` or `default`. If there is
    /// no such response, it is the first one.
    private var chosen: (HTTPStatus, JSONNode)? {
        if let responseKey, let status = operation.status(ofResponse: responseKey) {
            return operation.response(status).map { (status, $0) }
        }
        let responses = (operation.node["responses"]?.members ?? []).filter { !$0.key.hasPrefix("x-") }
        func status(_ key: String) -> HTTPStatus? {
            key.uppercased() == "2XX" || key == "default" ? 200 : operation.status(ofResponse: key)
        }
        let known = responses.compactMap { entry in
            status(entry.key).flatMap { status in entry.node.resolved.map { (status, $0) } }
        }
        return known.first { $0.0.isSuccess } ?? known.first
    }

    private func examples(of media: JSONNode) -> [JSONValue] {
        let named = (media["examples"]?.members ?? []).compactMap { entry -> JSONValue? in
            let example = entry.node.resolved?.value.object
            return example?["dataValue"] ?? example?["value"]
        }
        return (media.value.object?["example"].map { [$0] } ?? []) + named
    }

    /// The first example that is text, for a body that is not JSON.
    private func textExample(of media: JSONNode) -> String? {
        let serialized = (media["examples"]?.members ?? []).compactMap { $0.node.resolved?.text("serializedValue") }
        return (serialized + examples(of: media).compactMap(\.string)).first
    }

    private mutating func body(_ type: MediaType, _ media: JSONNode) -> Data {
        if type.isDocumentedJSON {
            return Data(values.value(for: media["schema"], examples: examples(of: media)).description.utf8)
        }
        if let item = media["itemSchema"] {
            return record(type, type.isEventStream ? event(item) : values.value(for: item))
        }
        switch (type.type, type.subtype) {
        case _ where type.recordMark != nil, ("text", "event-stream"):
            return record(type, values.value(for: media["schema"], examples: examples(of: media)))
        case ("text", _):
            return Data(text(of: values.value(for: media["schema"], examples: examples(of: media))).utf8)
        case (_, "xml"): return Data((textExample(of: media) ?? "<a/>").utf8)
        case (_, let subtype) where subtype.hasSuffix("+xml"): return Data((textExample(of: media) ?? "<a/>").utf8)
        case (_, "x-www-form-urlencoded"):
            let value = values.value(for: media["schema"], examples: examples(of: media))
            return Data((textExample(of: media) ?? form(value)).utf8)
        default:
            if let text = textExample(of: media) { return Data(text.utf8) }
            return Data((0..<16).map { _ in UInt8(truncatingIfNeeded: values.random.next()) })
        }
    }

    private func form(_ value: JSONValue) -> String {
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        let members = (value.object ?? [:]).sorted { $0.key < $1.key }
        // By default, the name of a list repeats.
        let items = members.flatMap { key, value in (value.array ?? [value]).map { (key, text(of: $0)) } }
        return items.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&")
    }

    /// A value for an event.
    ///
    /// Its data is JSON if the document says so.
    private mutating func event(_ item: JSONNode) -> JSONValue {
        let event = values.value(for: item)
        let schema = EventSchema(item, TextValues(checker: values.checker))
        guard var members = event.object, schema.hasData, let content = schema.content(of: event) else { return event }
        let data = members["data"]?.string.flatMap { JSONValue(parsing: Data($0.utf8)) }
        if data.map({ values.checker.accepts($0, content) }) == true { return event }
        members["data"] = .string(values.value(for: content).description)
        return .object(members)
    }

    private func record(_ type: MediaType, _ value: JSONValue) -> Data {
        switch (type.recordMark, type.subtype) {
        case (0x1E, _): return Data([0x1E]) + Data("\(value)\n".utf8)
        case (_, "event-stream"):
            guard let members = value.object, members["data"] != nil else { return Data("data: \(value)\n\n".utf8) }
            let lines = members.keys.sorted().map { "\($0): \(text(of: members[$0] ?? .null))\n" }
            return Data((lines.joined() + "\n").utf8)
        default: return Data("\(value)\n".utf8)
        }
    }

    private func text(of value: JSONValue) -> String {
        if let elements = value.array { return elements.map(text).joined(separator: ",") }
        return value.string ?? value.description
    }
}

extension MediaType {
    /// Whether the type means JSON.
    ///
    /// Some documents put `json` before the plus sign, as in `application/json+sarif`.
    var isDocumentedJSON: Bool { isJSON || subtype.hasPrefix("json+") }

    /// Whether the type means server-sent events.
    var isEventStream: Bool { type == "text" && subtype == "event-stream" }

    /// Whether the most specific range that the type is within has the weight 0 (RFC 9110, section 12.4.2).
    fileprivate func isRefused(by ranges: [MediaType]) -> Bool {
        let own = ranges.filter { matches($0) }
        func wildcardCount(_ range: MediaType) -> Int { range.description.count { $0 == "*" } }
        return own.min { wildcardCount($0) < wildcardCount($1) }?.weight == 0
    }

    fileprivate var weight: Double { self[parameter: "q"].flatMap(Double.init) ?? 1 }

    /// A type within the range.
    fileprivate var concrete: MediaType {
        guard type == "*" || subtype.hasPrefix("*") else { return self }
        switch type {
        case "text": return MediaType("text", "plain")
        case "image": return MediaType("image", "png")
        case "*": return .octetStream
        default: return MediaType(type, subtype.hasSuffix("json") ? "json" : "octet-stream")
        }
    }
}

extension [MediaType] {
    /// The ranges in the order of their weights, the highest first, without those of weight 0.
    fileprivate var preferred: [MediaType] {
        let weights = Set(map(\.weight)).filter { $0 > 0 }.sorted(by: >)
        return weights.flatMap { weight in filter { $0.weight == weight } }
    }
}
