// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Answers requests from a ``Recording``.
///
/// Repeated requests get their recorded answers in order. Each answer is used once.
///
/// ```swift
/// let api = BlogConnection(environment: .production, provider: TestConnector(try Replay(contentsOf: file)))
/// ```
///
/// A request matches a recorded request with the same method, URL and body. Header fields, the order of query items and
/// the order of JSON keys are ignored. If a value's name marks it as a secret, it matches any value except the
/// placeholder of another secret.
///
/// A request that was not recorded, or that is sent more often than it was recorded, fails with kind `.unmatched`. The
/// error says how to record the request. The request is also one of the ``issues``, which a test scope of
/// ApiConnectorTestScopes records as failures of the test.
public final class Replay: ResponseSource {
    /// When an answer arrives.
    public enum Pace: Sendable, Hashable {
        /// Immediately.
        case immediate
        /// With the recorded timing of head and chunks, on the connection's time source.
        case recorded
    }

    /// The recording in comparable form.
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

        /// The index of the first answer to a request, among the answers that a closure admits.
        func first(for sent: ComparableRequest, where isAdmitted: (Int) -> Bool) -> Int? {
            indices[sent.key]?.first { isAdmitted($0) && exchanges[$0].request.isAnswered(sent, placeholders) }
        }

        /// The number of answers to a request, used or not.
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

    package let name: String
    let place: CodeLocation
    private let pace: Pace
    private let recording: Recording
    /// How to record a missing request.
    private let advice: String
    private let state: Locked<State>

    /// Makes a replay of a recording.
    ///
    /// - Parameters:
    ///   - recording: The recording.
    ///   - pace: When answers arrive; immediately by default.
    ///   - secrets: The secrets that the recorder was made with; none by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    public convenience init(
        _ recording: Recording,
        pace: Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) {
        self.init(
            recording,
            pace,
            secrets,
            CodeLocation(fileID, filePath, line),
            advice: RecordingMode.adviceWithoutRecorder
        )
        ScriptScope.current?.add(member: self)
    }

    /// Makes a replay of a file.
    ///
    /// - Parameters:
    ///   - file: A file of HAR 1.2.
    ///   - pace: When answers arrive; immediately by default.
    ///   - secrets: The secrets that the recorder was made with; none by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` with the line and the problem.
    public convenience init(
        contentsOf file: URL,
        pace: Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) throws(FixtureError) {
        let recording = try Recording(contentsOf: file)
        self.init(recording, pace: pace, secrets: secrets, fileID: fileID, filePath: filePath, line: line)
    }

    init(
        _ recording: Recording,
        _ pace: Pace,
        _ secrets: RecordingSecrets,
        _ place: CodeLocation,
        advice: String
    ) {
        name = recording.name
        self.place = place
        self.pace = pace
        self.recording = recording
        self.advice = advice
        let index = Index(recording, secrets)
        state = Locked(State(secrets: secrets, index: index, isGiven: index.exchanges.map { _ in false }))
    }

    /// The issues so far: requests that were not recorded.
    public var issues: [TestIssue] { state.withLock { $0.issues } }

    /// Returns the next recorded answer to a request.
    ///
    /// - Throws: `ApiConnectorError` of kind `.unmatched` for a request that was not recorded, or that is sent more
    ///   often than it was recorded.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        let sent = try await sent(request)
        if let answer = take(sent, request) { return answer }
        throw miss(sent, request)
    }

    /// A request in comparable form.
    func sent(_ request: ApiRequest) async throws(ApiConnectorError) -> ComparableRequest {
        let request = request.uncompressed
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

    /// The index, which uses all names of secrets that are known so far, including the names that this request
    /// declares.
    private func index(for request: ApiRequest) -> Index {
        state.withLock { state in
            // The requests in the index keep their order, so the marks of used answers stay valid.
            if state.secrets.learn(from: request) { state.index = Index(recording, state.secrets) }
            return state.index
        }
    }

    /// The next recorded answer to a request; nil if none is left.
    func take(_ sent: ComparableRequest, _ request: ApiRequest) -> TestConnectorResponse? {
        let index = index(for: request)
        let number = state.withLock { state in
            let number = index.first(for: sent) { !state.isGiven[$0] }
            if let number { state.isGiven[number] = true }
            return number
        }
        return number.map { index.exchanges[$0].response(to: request, pace, advice: advice) }
    }

    /// The error of a request without an answer; also records an issue.
    func miss(_ sent: ComparableRequest, _ request: ApiRequest) -> ApiConnectorError {
        let index = index(for: request)
        let exchanges = index.exchanges
        let count = index.count(for: sent)
        var text = "\(name) has no answer to this request"
        if count > 0 {
            text = "\(name) has \(count == 1 ? "one answer" : "\(count) answers") to this request, already used"
        } else if !exchanges.isEmpty {
            let differences = exchanges.map { $0.request.differences(sent) }
            let nearest = exchanges.indices.min { differences[$0].distance < differences[$1].distance }
            if let nearest {
                text += ". The nearest is \(exchanges[nearest].request.request)"
                for difference in differences[nearest] { text += "\n     \(difference)" }
                text += "\n  "
            }
        }
        text += text.hasSuffix("\n  ") ? "To" + advice.dropFirst(2) : "; \(advice)"
        let issue = TestIssue(kind: .unmatched, description: "\(request): \(text).", place: place)
        state.withLock { $0.issues.append(issue) }
        return ApiConnectorError(.unmatched, text, request: request)
    }
}

extension Replay: ScopeMember {
    /// Returns the ``issues``.
    public func end(hasFailed: Bool) -> [TestIssue] { issues }
}
