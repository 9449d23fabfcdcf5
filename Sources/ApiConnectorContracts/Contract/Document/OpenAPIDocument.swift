// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// An OpenAPI document with an index of its operations.
final class OpenAPIDocument: Sendable {
    let name: String
    let root: JSONNode
    let dialect: SchemaChecker.Dialect
    let operations: [DocumentedOperation]
    /// The pointers within which there are no violations.
    let ignored: Set<String>

    /// Reads a file.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.decodingFailed`, whose text says what to do.
    convenience init(contentsOf file: URL, ignoring ignored: Set<String> = []) throws(ApiConnectorError) {
        let name = file.lastPathComponent
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw ApiConnectorError(.decodingFailed, "the document \(name) cannot be read", underlying: error)
        }
        try self.init(data, named: name, ignoring: ignored)
    }

    init(_ data: Data, named name: String, ignoring ignored: Set<String> = []) throws(ApiConnectorError) {
        func failed(_ sentence: String) -> ApiConnectorError {
            ApiConnectorError(.decodingFailed, "\(name) \(sentence)")
        }
        guard let value = JSONValue(document: data) else {
            throw failed("is not JSON; to convert YAML or several files, run apiconnector-openapi convert")
        }
        guard value["swagger"].string == nil else {
            throw failed("is Swagger 2.0; convert it to OpenAPI 3, for example with swagger2openapi")
        }
        let version = value["openapi"].string ?? ""
        guard version.hasPrefix("3.") else {
            throw failed("is not an OpenAPI 3 document: its member \"openapi\" is \(value["openapi"])")
        }
        self.name = name
        self.ignored = ignored
        dialect = version.hasPrefix("3.0") ? .openAPI30 : .draft2020
        let root = JSONDocument(value).rootNode
        self.root = root
        let paths = (root["paths"]?.members ?? []).filter { $0.key.hasPrefix("/") }
        if let broken = Self.brokenReference(in: paths.map(\.node), ignored) {
            throw failed(
                "has no \(broken.text("$ref") ?? "text"), to which the $ref at \(broken.pointer) leads; "
                    + "to join a document of several files, run apiconnector-openapi convert"
            )
        }
        operations = paths.flatMap { DocumentedOperation.all(of: $0.node, at: $0.key, in: root) }
    }

    /// The first reference that leads to no value, in the paths and in everything that they consist of, except in
    /// schemas.
    ///
    /// The checker reports such a reference in a schema.
    private static func brokenReference(in paths: [JSONNode], _ ignored: Set<String>) -> JSONNode? {
        let others: Set = ["schema", "itemSchema", "example", "examples", "callbacks", "links"]
        var visited: Set<String> = []
        var waiting = Array(paths.reversed())
        while let node = waiting.popLast() {
            guard !ignored.containsPointer(node.pointer), visited.insert(node.pointer).inserted else { continue }
            if node.value.object?["$ref"] != nil {
                guard let target = node.resolved else { return node }
                waiting.append(target)
            }
            // In `headers`, each member is the name of a field.
            let hasNames = node.steps.last == "headers"
            let parts = node.members.filter { hasNames || !(others.contains($0.key) || $0.key.hasPrefix("x-")) }
            waiting += parts.map(\.node).reversed() + node.elements.reversed()
        }
        return nil
    }

    /// Makes a document that has only one of another document's operations.
    init(_ other: OpenAPIDocument, only operation: DocumentedOperation) {
        name = other.name
        root = other.root
        dialect = other.dialect
        ignored = other.ignored
        operations = [operation]
    }

    func checker(_ direction: SchemaChecker.Direction) -> SchemaChecker {
        SchemaChecker(dialect: dialect, direction: direction, checksFormats: true, ignored: ignored)
    }

    /// An operation that a request can be for, with the values in the request's path.
    typealias Candidate = (operation: DocumentedOperation, pathValues: [String: String])

    /// The operations that a request can be for, with the values in the request's path; a violation if there is no such
    /// operation.
    ///
    /// There are several, for example, if their paths differ only in the fragment, which is not sent. The request must
    /// then be valid for one of them.
    func operations(for request: ApiRequest) -> Result<[Candidate], ContractViolation> {
        let path = request.url.path(percentEncoded: true)
        let own = request.routeName.map { DocumentedPath($0) }
        let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
        let items = ParameterReader.Item.all(in: query)
        var others: [DocumentedOperation] = []
        var best: [Candidate] = []
        for operation in operations {
            guard let values = operation.values(of: path, route: own) else { continue }
            guard operation.template.fixedItems.allSatisfy(items.contains) else { continue }
            guard operation.method == request.method else {
                others.append(operation)
                continue
            }
            // A literal segment takes precedence over a parameter. The first segment in which two templates differ
            // decides. If the segments do not decide, the template with more query items takes precedence.
            if let known = best.first?.operation.template {
                if known.isMoreSpecific(than: operation.template) { continue }
                if operation.template.isMoreSpecific(than: known) { best = [] }
            }
            best.append((operation, values))
        }
        if !best.isEmpty { return .success(best) }
        guard let other = others.first else {
            return .failure(ContractViolation(.request, "#/paths", "the document has no path for it"))
        }
        let methods = others.map(\.method.rawValue).sorted().joined(separator: ", ")
        let pointer = "#" + other.node.steps.dropLast().pointer
        return .failure(ContractViolation(.request, pointer, "the path has no \(request.method); it has \(methods)"))
    }
}

extension ArraySlice<String> {
    fileprivate var pointer: String { Array(self).pointer }
}

/// A violation of the document by a request or a response.
struct ContractViolation: Error, Equatable, CustomStringConvertible {
    /// The part of the exchange, such as `the query parameter "page"`.
    let subject: String
    /// The pointer of the value within the part; empty for the whole part.
    let value: String
    /// The pointer in the document.
    let pointer: String
    let sentence: String

    enum Part: String {
        case request = "the request"
        case requestBody = "the request body"
        case response = "the response"
        case responseBody = "the response body"
    }

    init(_ part: Part, _ pointer: String, _ sentence: String) {
        self.init(part.rawValue, pointer, sentence)
    }

    init(_ subject: String, _ pointer: String, _ sentence: String) {
        self.subject = subject
        self.value = ""
        self.pointer = pointer
        self.sentence = sentence
    }

    init(_ subject: String, _ violation: SchemaViolation) {
        self.subject = subject
        value = violation.value
        pointer = violation.schema
        sentence = violation.sentence
    }

    var description: String {
        "\(subject)\(value.isEmpty ? "" : " at \(value)"): \(sentence) (\(pointer))"
    }
}
