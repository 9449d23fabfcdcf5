// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The program of `Scripts/openapi-suite` that calls each function of a generated client. It is compiled with the
// client, the code of `generate --callers`, and ApiConnectorContracts in debug. A model of the client is unlikely to have
// the name of one of these types.

import ApiConnector
import ApiConnectorOpenAPI
import Synchronization

@testable import ApiConnectorContracts
@testable import ApiConnectorTesting

@main
struct FunctionCallerProgram {
    static func main() async throws {
        let file = URL(filePath: CommandLine.arguments[1])
        // The other arguments are pointers of schemas that contradict the rest of the document.
        let ignored = Set(CommandLine.arguments.dropFirst(2))
        let caller = FunctionCaller(try OpenAPIDocument(contentsOf: file, ignoring: ignored))
        await callEverything(caller)
        exit(caller.report() ? 0 : 1)
    }
}

/// A file of a form that, unlike the library's, is decoded: from any value.
///
/// The client is compiled into this module, so its forms have this type in place of the library's.
struct FormFile: FormValue, Codable {
    private let file = ApiConnectorOpenAPI.FormFile(.data(Data([1])))

    init(from decoder: any Decoder) {}

    func encode(to encoder: any Encoder) throws { try file.encode(to: encoder) }

    func parts(named name: String, as mediaType: String?) -> [MultipartPart] { file.parts(named: name, as: mediaType) }
}

/// Calls functions with a `FakeBackend`, and compares each exchange with the document.
final class FunctionCaller: Sendable {
    private struct State {
        var callCount = 0
        var failures: [String] = []
        var violations: [String] = []
        /// The operations whose requests have reached the backend.
        var called: Set<String> = []
        /// The key of the documented response to the current call; nil for the first successful one.
        var responseKey: String?
        /// The operation of the current call.
        var operation: DocumentedOperation?
    }

    private let document: OpenAPIDocument
    private let state = Mutex(State())

    init(_ document: OpenAPIDocument) {
        self.document = document
    }

    func connection<Router: ApiRouter>(
        _ router: Router.Type,
        _ server: Router.EnvironmentType
    ) -> NetworkConnector<AnyProvider, Router> {
        let provider = TestConnector { [self] request in
            // Operations whose paths differ only in a fragment have the same requests, so the backend knows only the
            // called operation.
            let (called, key) = state.withLock { ($0.operation, $0.responseKey) }
            let own = called.map { OpenAPIDocument(document, only: $0) } ?? document
            let answer = try await FakeBackend(own, responseKey: key).response(for: request)
            let sent = RecordedRequest(number: 1, request: request, body: try await request.collectedBody())
            let exchange = ScriptExchange(sent: sent, response: answer, place: CodeLocation(#fileID, #filePath, #line))
            // The document does not describe the target of a redirect.
            if request.url.host() == FakeBackend.redirectedHost { return answer }
            let violations = document.violations(of: exchange).map(\.description)
            state.withLock { state in
                if let called { state.called.insert(called.description) }
                state.violations += violations
            }
            return answer
        }
        return NetworkConnector(environment: server, provider: AnyProvider(provider), router: router)
    }

    /// Calls a function with all arguments, and with only the required ones, and once for each other response.
    func call(
        _ method: String,
        _ path: String,
        _ name: String,
        _ body: (FunctionArguments) async throws -> Void
    ) async {
        let operation = document.operations.first { $0.method.rawValue == method && $0.template.text == path }
        guard let operation else { return fail(name, "the operation \(method) \(path) is not in the document") }
        await attempt(operation, name, isFull: true, answer: nil, body)
        await attempt(operation, name, isFull: false, answer: nil, body)
        for response in OtherResponse.all(of: operation) {
            await attempt(operation, "\(name), response \(response.key)", isFull: true, answer: response, body)
        }
    }

    /// Calls a function once; without `other`, the backend answers with the first successful response.
    private func attempt(
        _ operation: DocumentedOperation,
        _ name: String,
        isFull: Bool,
        answer other: OtherResponse?,
        _ body: (FunctionArguments) async throws -> Void
    ) async {
        state.withLock { state in
            state.callCount += 1
            state.violations = []
            state.operation = operation
            state.responseKey = other?.key
        }
        let arguments = FunctionArguments(operation, document, isFull: isFull)
        do {
            try await body(arguments)
            if other?.isError == true { return fail(name, "the call succeeds") }
        } catch {
            if !arguments.isComplete { return fail(name, "no arguments: \(error)") }
            guard let other, other.isExpected(error) else { return fail(name, "\(error)") }
        }
        let undescribed = arguments.undescribedCount
        if undescribed > 0 { fail(name, "\(undescribed) values of the response match no documented alternative") }
        if let violation = state.withLock({ $0.violations.first }) { fail(name, violation) }
    }

    private func fail(_ name: String, _ text: String) {
        let line = text.split(separator: "\n").joined(separator: " ")
        state.withLock { $0.failures.append("\(name): \(line.prefix(600))") }
    }

    /// Prints the result, and returns whether all calls passed.
    func report() -> Bool {
        let called = state.withLock(\.called)
        for operation in document.operations where !called.contains(operation.description) {
            fail(operation.description, "no call of this operation has reached the backend")
        }
        let (count, failures) = state.withLock { ($0.callCount, $0.failures) }
        for failure in failures { print("failed: \(failure)") }
        print("\(count) calls of \(called.count) of \(document.operations.count) operations, \(failures.count) failed")
        return failures.isEmpty
    }
}

/// A documented response other than the first successful one.
struct OtherResponse {
    /// The response's key, such as `404`, `4XX` or `default`.
    let key: String
    let isError: Bool
    /// Whether the response has JSON with a schema, so that an error is the router's failure.
    let isTyped: Bool

    /// The errors, and the successful responses if all have JSON or no body.
    ///
    /// With other bodies, an operation has several functions, each for some of the responses.
    static func all(of operation: DocumentedOperation) -> [OtherResponse] {
        let responses = operation.node["responses"]?.members ?? []
        let successes = responses.filter { $0.key.hasPrefix("2") }
        let isJSON = successes.allSatisfy { content(of: $0.node).allSatisfy { MediaType($0.key)?.isJSON == true } }
        let hasSuccess = !successes.isEmpty || responses.contains { $0.key.hasPrefix("3") }
        return responses.compactMap { key, node in
            let isError = key.hasPrefix("4") || key.hasPrefix("5") || (key == "default" && hasSuccess)
            let isSuccess = key.hasPrefix("2") && successes.count > 1 && isJSON
            guard isError || isSuccess, operation.status(ofResponse: key) != nil else { return nil }
            let json = content(of: node).first { MediaType($0.key)?.isJSON == true }
            let isTyped = json?.node.resolved?["schema"] != nil && operation.method != .head
            return OtherResponse(key: key, isError: isError, isTyped: isTyped)
        }
    }

    private static func content(of response: JSONNode) -> [(key: String, node: JSONNode)] {
        response.resolved?["content"]?.members ?? []
    }

    func isExpected(_ error: any Error) -> Bool {
        guard isError, let error = error as? ApiConnectorError else { return false }
        // The failure of an operation without documented JSON can also match the type of another operation's error.
        return error.kind == .backendFailure || (!isTyped && error.kind == .unacceptableStatus)
    }
}

/// The arguments of one call, generated from the document's schemas.
final class FunctionArguments {
    private let operation: DocumentedOperation
    private let isFull: Bool
    private var values: SchemaValues
    /// Whether all requested arguments could be decoded so far.
    private(set) var isComplete = true
    /// The number of received values that match no documented alternative: `.other` with JSON.
    private(set) var undescribedCount = 0

    init(_ operation: DocumentedOperation, _ document: OpenAPIDocument, isFull: Bool) {
        self.operation = operation
        self.isFull = isFull
        values = SchemaValues(checker: document.checker(.request), random: KeyedRandom(1, operation.description))
    }

    /// Examines the value of a call.
    func receive<Value>(_ value: Value) {
        undescribedCount += Self.undescribedCount(in: value)
    }

    /// Reads a whole stream.
    func receive<Element>(_ stream: ResponseStream<Element>) async throws {
        var count = 0
        for try await element in stream {
            receive(element)
            count += 1
        }
        if count == 0 { throw EmptyStreamError() }
    }

    private static func undescribedCount(in value: Any, depth: Int = 0) -> Int {
        if depth > 32 || value is JSONValue || value is String || value is Data || value is Date || value is URL {
            return 0
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .enum, let child = mirror.children.first, child.label == "other",
            child.value is JSONValue
        {
            return 1
        }
        return mirror.children.reduce(0) { $0 + undescribedCount(in: $1.value, depth: depth + 1) }
    }

    func callAsFunction<Value: Decodable>(_ key: String) throws -> Value {
        do {
            // Of several functions with an optional body, all but the first require it.
            let isNeeded = !(Value.self is any ExpressibleByNilLiteral.Type)
            return try decoder.decode(Value.self, from: Data(value(of: key, isNeeded).description.utf8))
        } catch {
            isComplete = false
            throw error
        }
    }

    func callAsFunction(_ key: String) throws -> RequestBody { body(key) }

    func callAsFunction(_ key: String) throws -> RequestBody? { isFull || isRequired ? body(key) : nil }

    func callAsFunction(_ key: String) throws -> [MultipartPart] { parts(key) }

    func callAsFunction(_ key: String) throws -> [MultipartPart]? { isFull || isRequired ? parts(key) : nil }

    /// One part per member of a generated object, or per element of a member.
    private func parts(_ key: String) -> [MultipartPart] {
        let members = value(of: key).object ?? ["a": "a"]
        return members.sorted { $0.key < $1.key }.flatMap { name, value in
            (value.array ?? [value]).map { element in
                if let text = element.string { return .text(text, name: name) }
                return .json(element, name: name)
            }
        }
    }

    private var isRequired: Bool { operation.node["requestBody"]?.resolved?.isTrue("required") == true }

    private func body(_ key: String) -> RequestBody {
        let type = MediaType(String(key.dropFirst("body ".count))) ?? .octetStream
        let isStream = ["jsonl", "x-ndjson", "ndjson", "json-seq"].contains(type.subtype)
        let concrete = type.type == "*" || type.subtype == "*" ? .octetStream : type
        return .data(isStream ? Data("\(value(of: key))\n".utf8) : Data([1, 2, 3]), mediaType: concrete)
    }

    private func value(of key: String, _ isBodyNeeded: Bool = false) -> JSONValue {
        let parts = key.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts[0] == "body" {
            guard isFull || isRequired || isBodyNeeded else { return .null }
            let content = operation.node["requestBody"]?.resolved?["content"]?.members ?? []
            let media = content.first { $0.key == parts[1] }?.node.resolved
            return values.value(for: media?["schema"] ?? media?["itemSchema"])
        }
        let found = operation.parameters.first { $0.place.rawValue == parts[0] && $0.name == parts[1] }
        guard let parameter = found, isFull || parameter.isRequired else { return .null }
        let schema = parameter.schema ?? parameter.content?.schema
        let value = values.value(for: schema)
        // The schema may allow no value, for example if its `enum` is empty.
        if !parameter.isRequired, let schema, !values.checker.accepts(value, schema) { return .null }
        // With an empty path segment, it would be another path.
        if parameter.place == .path, value == .string("") { return .string("a") }
        return value
    }

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            for style in [Date.ISO8601FormatStyle(), .init(includingFractionalSeconds: true)] {
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a date"))
        }
        return decoder
    }
}

/// The error of a stream without an element.
struct EmptyStreamError: Error {}
