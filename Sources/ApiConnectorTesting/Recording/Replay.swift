// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The answers of a ``Recording``, to the requests that were recorded: repeated requests get theirs in order, each
/// once.
///
/// ```swift
/// let api = BlogConnection(environment: .production, provider: TestConnector(try Replay(contentsOf: file)))
/// ```
///
/// A request is the recorded one where method, URL and body are the same; the order of query items and of JSON's keys
/// does not count, and neither do header fields. Where a name says that a value is a secret, any value will do, unless
/// it is the placeholder of another secret.
///
/// A request that was not recorded, or not so often, fails with kind `.unmatched` and how to record it; it is one of
/// the ``issues``, which a test scope of ApiConnectorTestScopes records as the test's failures.
public final class Replay: ResponseSource {
    /// When an answer comes.
    public enum Pace: Sendable, Hashable {
        /// At once.
        case immediate
        /// As it came when it was recorded, head and chunks, on the connection's time source.
        case recorded
    }

    /// The recording in the form in which it is compared.
    private struct Index {
        let redaction: RecordingRedaction
        let exchanges: [ReplayedExchange]
        let indices: [String: [Int]]
        let placeholders: Set<String>

        init(_ recording: Recording, _ secrets: RecordingSecrets) {
            let redaction = RecordingRedaction(secrets, keeping: recording.exchanges)
            let exchanges = recording.exchanges.compactMap { ReplayedExchange($0, redaction) }
            self.redaction = redaction
            self.exchanges = exchanges
            indices = Dictionary(grouping: exchanges.indices) { exchanges[$0].request.key }
            placeholders = redaction.taken
        }

        /// Where the first answer to a request is, among those that a closure admits.
        func first(for sent: ComparableRequest, where isAdmitted: (Int) -> Bool) -> Int? {
            indices[sent.key]?.first { isAdmitted($0) && exchanges[$0].request.isAnswered(sent, placeholders) }
        }

        /// How many answers to a request there are, given or not.
        func count(for sent: ComparableRequest) -> Int {
            (indices[sent.key] ?? []).count { exchanges[$0].request.isAnswered(sent, placeholders) }
        }
    }

    private struct State {
        var secrets: RecordingSecrets
        var index: Index
        var isGiven: [Bool]
        var issues: [TestIssue] = []
    }

    let name: String
    let place: CodeLocation
    private let pace: Pace
    private let recording: Recording
    private let state: Locked<State>

    /// Makes the answers of a recording.
    ///
    /// - Parameters:
    ///   - recording: What was recorded.
    ///   - pace: When an answer comes; at once by default.
    ///   - secrets: What the recorder was given; none by default.
    ///   - fileID: Where it is made; left out.
    ///   - filePath: Where it is made; left out.
    ///   - line: Where it is made; left out.
    public convenience init(
        _ recording: Recording,
        pace: Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) {
        self.init(recording, pace, secrets, CodeLocation(fileID, filePath, line))
        ScriptScope.current?.add(member: self)
    }

    /// Makes the answers of a file.
    ///
    /// - Parameters:
    ///   - file: A file of HAR 1.2.
    ///   - pace: When an answer comes; at once by default.
    ///   - secrets: What the recorder was given; none by default.
    ///   - fileID: Where it is made; left out.
    ///   - filePath: Where it is made; left out.
    ///   - line: Where it is made; left out.
    /// - Throws: ``RecordingError`` that names the line and what is wrong with it.
    public convenience init(
        contentsOf file: URL,
        pace: Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) throws(RecordingError) {
        let recording = try Recording(contentsOf: file)
        self.init(recording, pace: pace, secrets: secrets, fileID: fileID, filePath: filePath, line: line)
    }

    init(_ recording: Recording, _ pace: Pace, _ secrets: RecordingSecrets, _ place: CodeLocation) {
        name = recording.name
        self.place = place
        self.pace = pace
        self.recording = recording
        let index = Index(recording, secrets)
        state = Locked(State(secrets: secrets, index: index, isGiven: index.exchanges.map { _ in false }))
    }

    /// What was asked for and not recorded, so far.
    public var issues: [TestIssue] { state.withLock { $0.issues } }

    /// The recorded answer, once.
    ///
    /// - Throws: `ApiConnectorError` of kind `.unmatched` for a request that was not recorded, or not so often.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        let sent = try await sent(request)
        if let answer = take(sent, request) { return answer }
        throw miss(sent, request)
    }

    /// A request in the form in which it is compared.
    func sent(_ request: ApiRequest) async throws(ApiConnectorError) -> ComparableRequest {
        let body = try await request.body.collect(upTo: ResponseDelivery.standard.maximumByteCount)
        var exchange = RecordedExchange(
            started: Date(timeIntervalSince1970: 0),
            method: request.method,
            url: request.url.absoluteString,
            headers: request.headers,
            body: body
        )
        if !request.headers.contains(.contentType), let type = request.body.mediaType {
            exchange.headers[.contentType] = type.description
        }
        return ComparableRequest(exchange, index(for: request).redaction)
            ?? ComparableRequest(request: request, key: "", secrets: [], isBodyKnown: true)
    }

    /// The recording, compared by the names of secrets that are known by now, those of a request among them.
    private func index(for request: ApiRequest) -> Index {
        state.withLock { state in
            // The requests that it holds stay in order, so that what has been given keeps its place.
            if state.secrets.learn(from: request) { state.index = Index(recording, state.secrets) }
            return state.index
        }
    }

    /// The next answer that was recorded to a request; nil where there is none left.
    func take(_ sent: ComparableRequest, _ request: ApiRequest) -> TestConnectorResponse? {
        let index = index(for: request)
        let number = state.withLock { state in
            let number = index.first(for: sent) { !state.isGiven[$0] }
            if let number { state.isGiven[number] = true }
            return number
        }
        return number.map { index.exchanges[$0].response(to: request, pace) }
    }

    /// The error of a request without an answer, which is an issue too.
    func miss(_ sent: ComparableRequest, _ request: ApiRequest) -> ApiConnectorError {
        let index = index(for: request)
        let exchanges = index.exchanges
        let count = index.count(for: sent)
        var text = "\(name) has no answer to it"
        if count > 0 {
            text = "\(name) has \(count == 1 ? "one answer" : "\(count) answers") to it, already used"
        } else if !exchanges.isEmpty {
            let differences = exchanges.map { $0.request.differences(sent) }
            let nearest = exchanges.indices.min { differences[$0].distance < differences[$1].distance }
            if let nearest {
                text += ". The nearest is \(exchanges[nearest].request.request)"
                for difference in differences[nearest] { text += "\n     \(difference)" }
                text += "\n  "
            }
        }
        text += text.hasSuffix("\n  ") ? "To" + RecordingMode.advice.dropFirst(2) : "; \(RecordingMode.advice)"
        let issue = TestIssue(kind: .unmatched, description: "\(request): \(text).", place: place)
        state.withLock { $0.issues.append(issue) }
        return ApiConnectorError(.unmatched, text, request: request)
    }
}

extension Replay: ScopeMember {
    func end(hasFailed: Bool) -> [TestIssue] { issues }
}
