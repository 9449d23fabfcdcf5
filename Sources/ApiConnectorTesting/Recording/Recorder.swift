// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Writes what passes through a provider to a HAR file, or answers from that file in the provider's place.
///
/// ```swift
/// let recorder = try Recorder(fixtures.appending(path: "blog.har"))
/// let blog = BlogConnection(environment: .production, provider: SystemProvider().recording(by: recorder))
/// ```
///
/// Inside a test scope of ApiConnectorTestScopes the file is saved when the test has passed, and never of one that has
/// failed. Elsewhere ``saving(_:)`` or ``save()`` does it.
///
/// Whatever was recorded stays in memory until it is saved, of each body up to 64 MiB.
public final class Recorder: Sendable {
    private struct State {
        var entries: [RecordingEntry] = []
        /// What was given, and the names by which the requests' own credentials go.
        var secrets: RecordingSecrets
        var savedCount = 0
        var isOver = false
    }

    /// The file.
    public let file: URL

    /// Whether requests are sent or answered.
    public let mode: RecordingMode

    let place: CodeLocation
    /// What answers from the file; nil where everything is sent.
    let replay: Replay?
    private let kept: [RecordedExchange]
    private let state: Locked<State>

    /// Makes a recorder, and reads the file where that is to be replayed.
    ///
    /// - Parameters:
    ///   - file: The file; it need not exist where something is recorded.
    ///   - mode: Whether requests are sent or answered; what `APICONNECTOR_RECORDING` says by default, else replay.
    ///   - pace: When a replayed answer comes; at once by default.
    ///   - secrets: What the file must not hold beside what goes by a secret's name; nothing by default.
    ///   - fileID: Where it is made; left out.
    ///   - filePath: Where it is made; left out.
    ///   - line: Where it is made; left out.
    /// - Throws: ``RecordingError`` for a file that cannot be read, with the line, or is missing, with how to record
    ///   it; for a value of `APICONNECTOR_RECORDING` that is no mode.
    public init(
        _ file: URL,
        mode: RecordingMode = .environment,
        pace: Replay.Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) throws(RecordingError) {
        try RecordingMode.checkEnvironment()
        self.file = file
        self.mode = mode
        state = Locked(State(secrets: secrets))
        place = CodeLocation(fileID, filePath, line)
        let exists = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        switch mode {
        case .record:
            kept = []
            replay = nil
        case .recordMissing where !exists:
            kept = []
            replay = nil
        case .replay where !exists:
            throw RecordingError("there is no recording \(file.lastPathComponent); \(RecordingMode.advice)")
        case .replay, .recordMissing:
            let recording = try Recording(contentsOf: file)
            kept = recording.exchanges
            replay = Replay(recording, pace, secrets, place)
        }
        ScriptScope.current?.add(member: self)
    }

    deinit {
        // The last chance to be heard.
        guard state.withLock({ !$0.isOver && $0.savedCount < $0.entries.count }) else { return }
        StandardError.write("\(file.lastPathComponent) was not saved: call save() on the recorder made at \(place).")
    }

    /// What was asked for and not recorded, so far.
    public var issues: [TestIssue] { mode == .replay ? replay?.issues ?? [] : [] }

    /// Writes the file: what it had, where that was to be kept, and what has been recorded, in the order of the
    /// requests.
    ///
    /// It is written whole or not at all. Where nothing was recorded it stays as it is.
    ///
    /// - Throws: ``RecordingError`` where a secret is left, with its place, or the file cannot be written.
    public func save() throws(RecordingError) {
        let (entries, secrets) = state.withLock { ($0.entries, $0.secrets) }
        guard !entries.isEmpty else { return }
        do throws(RecordingError) {
            var exchanges: [RecordedExchange] = []
            for entry in entries {
                if let exchange = try entry.exchange() { exchanges.append(exchange) }
            }
            var redaction = RecordingRedaction(secrets, keeping: kept)
            let data = try HARWriter.data(kept + redaction.redacted(exchanges))
            try write(data)
        } catch {
            throw RecordingError("\(file.lastPathComponent) was not saved: \(error.description)")
        }
        state.withLock { $0.savedCount = max($0.savedCount, entries.count) }
    }

    /// Runs a closure and saves the file; not where the closure throws.
    ///
    /// - Throws: What the closure throws; ``RecordingError`` as ``save()`` does.
    public func saving<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            try save()
            return value
        } catch {
            discard()
            throw error
        }
    }

    private func write(_ data: Data) throws(RecordingError) {
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try data.write(to: file, options: .atomic)
        } catch {
            throw RecordingError("it cannot be written: \(error.localizedDescription)")
        }
    }

    /// Forgets what was recorded and not saved, and records nothing more.
    private func discard() {
        state.withLock { state in
            state.isOver = true
            state.entries = []
        }
    }

    /// Ends it with its test: saves the file of one that has passed.
    func end(hasFailed: Bool) -> [TestIssue] {
        defer { discard() }
        guard state.withLock({ $0.savedCount < $0.entries.count }) else { return issues }
        guard !hasFailed else {
            StandardError.write("\(file.lastPathComponent) was not saved: its test has failed.")
            return issues
        }
        do {
            try save()
            return issues
        } catch {
            return issues + [TestIssue(kind: .unsaved, description: "\(error).", place: place)]
        }
    }

    /// Begins to record a request.
    func begin(_ request: ApiRequest, _ body: Data) -> RecordingEntry {
        let entry = RecordingEntry(request, body)
        state.withLock { state in
            guard !state.isOver else { return }
            state.entries.append(entry)
            _ = state.secrets.learn(from: request)
        }
        return entry
    }
}

extension Recorder: ScopeMember {}

extension ScriptScope {
    /// Makes a recorder end with this scope.
    package func add(_ recorder: Recorder) {
        add(member: recorder)
    }
}
