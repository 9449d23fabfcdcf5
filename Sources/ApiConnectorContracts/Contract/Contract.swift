// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting
public import ApiConnectorRecording

/// Checks a test's requests and canned responses against an OpenAPI document or a recording of the real backend.
///
/// With a document, `Contract(openAPI:)` checks each request that a ``/ApiConnectorTesting/Script`` receives, and each
/// canned response that the script returns: operation, parameters, media type, status, header fields and schema. In a
/// suite with the trait `.contract(openAPI:)` of ApiConnectorContractScopes, a violation is an issue of the script, so
/// the test fails.
///
/// ```swift
/// let contract = Contract(try Recording(contentsOf: file))
/// …
/// contract.check(script)
/// #expect(contract.issues.isEmpty)
/// ```
///
/// With a recording, canned JSON bodies are compared with the recorded bodies of the same method, path and status. The
/// values in a route's path are ignored, and the statuses from 200 to 299 count as one status. These differences are
/// issues:
///
/// - A canned field that was never recorded, or was recorded with another type.
/// - A canned route that was never recorded.
/// - A field that is in every recorded body, but in no canned body.
///
/// Only complete bodies from scripts are compared, not bodies from other sources or bodies that a test feeds.
public final class Contract: Sendable {
    private let recording: [RecordedExchange]
    private let name: String
    private let ignored: Set<String>
    private let bodies = Locked<[CannedBody]>([])
    private let violations = Locked<[TestIssue]>([])

    /// The document; nil if the contract is a recording.
    let document: OpenAPIDocument?

    /// Makes a contract from a recording.
    ///
    /// - Parameters:
    ///   - recording: The recorded exchanges with the backend.
    ///   - ignored: The paths of fields that are not compared, including everything inside them. Paths are written as
    ///     in issues, such as `items[].note`. None by default.
    public init(_ recording: Recording, ignoring ignored: Set<String> = []) {
        self.recording = recording.exchanges.filter { $0.status != nil && $0.end == .finished }
        self.name = recording.name
        self.ignored = ignored
        document = nil
    }

    /// Reads an OpenAPI document of version 3.0, 3.1 or 3.2 in JSON.
    ///
    /// `apiconnector-openapi convert` converts a document in YAML or in several files. Credentials are not checked.
    ///
    /// - Parameters:
    ///   - file: The document.
    ///   - ignored: JSON pointers in the document, such as `#/components/schemas/Tea/properties/note`; violations
    ///     inside them are not reported. None by default.
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.decodingFailed` if the file is not such a document, or
    ///   if a `$ref` outside of its schemas leads to nothing.
    public init(openAPI file: URL, ignoring ignored: Set<String> = []) throws(ApiConnectorError) {
        let document = try OpenAPIDocument(contentsOf: file, ignoring: ignored)
        self.document = document
        name = document.name
        recording = []
        self.ignored = ignored
    }

    /// Adds the requests that a script has received so far, and their answers.
    public func check<Router>(_ script: Script<Router>) {
        let found = issues(of: script.engine.exchanges)
        violations.withLock { violations in
            let known = Set(violations.map { "\($0)\($0.place)" })
            violations += found.filter { !known.contains("\($0)\($0.place)") }
        }
        addBodies(of: script.engine.exchanges)
    }

    /// Adds the exchanges of an ended script.
    ///
    /// - Returns: The exchanges' violations, if the contract is a document.
    package func collect(_ exchanges: [ScriptExchange]) -> [TestIssue] {
        addBodies(of: exchanges)
        return issues(of: exchanges)
    }

    private func addBodies(of exchanges: [ScriptExchange]) {
        guard document == nil else { return }
        let canned = exchanges.compactMap { exchange in
            exchange.response.flatMap { CannedBody($0, to: exchange.sent, at: exchange.place) }
        }
        bodies.withLock { $0 += canned }
    }

    /// The violations and differences of the added requests and responses, each once.
    public var issues: [TestIssue] {
        guard document == nil else { return violations.withLock { $0 } }
        let endpoints = Dictionary(grouping: bodies.withLock { $0 }, by: \.endpoint)
        return endpoints.sorted { $0.key.description < $1.key.description }.flatMap { endpoint, bodies in
            issues(endpoint, bodies)
        }
    }

    private func issues(_ endpoint: CannedBody.Endpoint, _ bodies: [CannedBody]) -> [TestIssue] {
        var recorded = JSONShape(), canned = JSONShape()
        for exchange in recording where endpoint.fits(exchange) {
            if let value = JSONValue(parsing: exchange.answer) { recorded.add(value) }
        }
        guard recorded.count > 0 else {
            // The recording does not have to contain each canned error response.
            guard endpoint.isSuccess, let place = bodies.first?.place else { return [] }
            return [issue("\(endpoint) is canned, but \(name) has no body for it", at: place)]
        }
        var found: [TestIssue] = []
        var known: Set<String> = []
        for body in bodies {
            canned.add(body.value)
            for (path, flaw) in recorded.strangers(in: body.value) where !isIgnored(path) {
                let text = "\(endpoint), \(path.isEmpty ? "the body" : path): \(flaw) in \(name)"
                if known.insert(text).inserted { found.append(issue(text, at: body.place)) }
            }
        }
        let missing = recorded.missing(in: canned).filter { !isIgnored($0) }
        if !missing.isEmpty, let place = bodies.first?.place {
            let list = missing.joined(separator: ", ")
            found.append(
                issue("\(endpoint): \(list): in every body in \(name), but in no canned body", at: place)
            )
        }
        return found
    }

    private func isIgnored(_ path: String) -> Bool {
        ignored.contains { path == $0 || path.hasPrefix($0 + ".") || path.hasPrefix($0 + "[]") }
    }

    private func issue(_ text: String, at place: CodeLocation) -> TestIssue {
        TestIssue(kind: .drifted, description: text + ".", place: place)
    }
}

/// A JSON body that a script returned.
struct CannedBody: Sendable {
    /// The key of bodies that are compared with each other.
    struct Endpoint: Hashable, CustomStringConvertible {
        let method: HTTPMethod
        /// The segments of the path; nil matches any segment.
        let segments: [String?]
        /// The status; nil for all statuses from 200 to 299.
        let status: HTTPStatus?

        var isSuccess: Bool { status == nil }

        var description: String {
            let path = segments.map { "/" + ($0 ?? "{}") }.joined()
            return "\(method) \(path.isEmpty ? "/" : path)" + (status.map { " with status \($0.rawValue)" } ?? "")
        }

        func fits(_ exchange: RecordedExchange) -> Bool {
            guard let recorded = exchange.status, status.map({ $0 == recorded }) ?? recorded.isSuccess,
                exchange.method == method, let url = URL(string: exchange.url)
            else { return false }
            let sent = Self.segments(of: url)
            return sent.count == segments.count && zip(segments, sent).allSatisfy { $0 == nil || $0 == $1 }
        }

        static func segments(of url: URL) -> [String] {
            url.path(percentEncoded: true).split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        }
    }

    let endpoint: Endpoint
    let value: JSONValue
    let place: CodeLocation

    /// Returns nil for an answer without JSON.
    init?(_ response: TestConnectorResponse, to sent: RecordedRequest, at place: CodeLocation) {
        guard let (status, body) = response.canned, let value = JSONValue(parsing: body) else { return nil }
        self.endpoint = Endpoint(
            method: sent.method,
            segments: Self.template(of: sent.request),
            status: status.isSuccess ? nil : status
        )
        self.value = value
        self.place = place
    }

    /// The segments of the path; nil for each segment that contains `{}` in the route's name.
    private static func template(of request: ApiRequest) -> [String?] {
        let segments = Endpoint.segments(of: request.url)
        let name = (request.routeName ?? "").split(separator: "/")
        guard name.count <= segments.count else { return segments }
        let start = segments.count - name.count
        let isOwn = zip(segments[start...], name).allSatisfy { $0 == $1 || $1.contains("{}") }
        guard isOwn else { return segments }
        let own = zip(segments[start...], name).map { segment, part -> String? in
            part.contains("{}") ? nil : segment
        }
        return segments[..<start].map { $0 } + own
    }
}
