// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
public import ApiConnectorTesting

/// Records a provider's exchanges in a HAR file, or replays that file instead of calling the provider.
///
/// ```swift
/// let recorder = try Recorder(fixtures.appending(path: "blog.har"))
/// let blog = BlogConnection(environment: .production, provider: SystemProvider().recording(by: recorder))
/// ```
///
/// In a test scope of ApiConnectorTestScopes, the file is saved if the test has passed. Elsewhere, call ``saving(_:)``
/// or ``save()``.
///
/// Recorded exchanges stay in memory until they are saved, with up to 64 MiB of each body.
public final class Recorder: Sendable {
    private struct State {
        var entries: [RecordingEntry] = []
        /// The given secrets, and the names of the credentials that requests have declared.
        var secrets: RecordingSecrets
        var savedCount = 0
        var isOver = false
    }

    /// The file.
    public let file: URL

    /// Whether requests are sent or replayed.
    public let mode: RecordingMode

    let place: CodeLocation
    /// The replay of the file; nil if every request is sent.
    let replay: Replay?
    private let kept: [RecordedExchange]
    private let state: Locked<State>

    /// Makes a recorder, and reads the file if it is replayed.
    ///
    /// - Parameters:
    ///   - file: The file. It does not have to exist if requests are recorded.
    ///   - mode: Whether requests are sent or replayed. The default is the value of `APICONNECTOR_RECORDING`, or replay
    ///     if the variable is not set.
    ///   - pace: When replayed answers arrive; immediately by default.
    ///   - secrets: Secrets that the file must not contain, and that cannot be found by their names; none by default.
    ///   - fileID: The caller's file, filled in by the compiler.
    ///   - filePath: The path of the caller's file, filled in by the compiler.
    ///   - line: The caller's line, filled in by the compiler.
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` if the file is invalid or missing, or if the value of
    ///   `APICONNECTOR_RECORDING` is not a mode.
    public init(
        _ file: URL,
        mode: RecordingMode = .environment,
        pace: Replay.Pace = .immediate,
        secrets: RecordingSecrets = [:],
        fileID: String = #fileID,
        filePath: StaticString = #filePath,
        line: UInt = #line
    ) throws(FixtureError) {
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
            throw FixtureError("there is no recording \(file.lastPathComponent); \(RecordingMode.advice)")
        case .replay, .recordMissing:
            let recording = try Recording(contentsOf: file)
            kept = recording.exchanges
            replay = Replay(recording, pace, secrets, place, advice: RecordingMode.advice)
        }
        ScriptScope.current?.add(member: self)
    }

    deinit {
        // This is the last chance to report unsaved exchanges.
        guard state.withLock({ !$0.isOver && $0.savedCount < $0.entries.count }) else { return }
        StandardError.write("\(file.lastPathComponent) was not saved: call save() on the recorder made at \(place).")
    }

    /// The issues so far: requests that were not recorded.
    public var issues: [TestIssue] { mode == .replay ? replay?.issues ?? [] : [] }

    /// Writes the file.
    ///
    /// The file then contains the new exchanges in the order of the requests. In mode ``RecordingMode/recordMissing``,
    /// the exchanges of the old file precede them.
    ///
    /// The file is replaced atomically. If nothing was recorded, the file does not change.
    ///
    /// - Throws: ``/ApiConnectorTesting/FixtureError`` if the file cannot be written, or if a secret could not be
    ///   replaced. The error then names the secret's place.
    public func save() throws(FixtureError) {
        let (entries, secrets) = state.withLock { ($0.entries, $0.secrets) }
        guard !entries.isEmpty else { return }
        do throws(FixtureError) {
            var exchanges: [RecordedExchange] = []
            for entry in entries {
                if let exchange = try entry.exchange() { exchanges.append(exchange) }
            }
            var redaction = RecordingRedaction(secrets, keeping: kept)
            let data = try HARWriter.data(kept + redaction.redacted(exchanges))
            try write(data)
        } catch {
            throw FixtureError("\(file.lastPathComponent) was not saved: \(error.description)")
        }
        state.withLock { $0.savedCount = max($0.savedCount, entries.count) }
    }

    /// Runs a closure, and saves the file unless the closure throws.
    ///
    /// - Throws: The error of the closure, or the error of ``save()``.
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

    private func write(_ data: Data) throws(FixtureError) {
        do {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try data.write(to: file, options: .atomic)
        } catch {
            throw FixtureError("it cannot be written: \(error.localizedDescription)")
        }
    }

    /// Discards unsaved exchanges, and stops recording.
    private func discard() {
        state.withLock { state in
            state.isOver = true
            state.entries = []
        }
    }

    /// Ends the recorder with its test, and saves the file if the test has passed.
    public func end(hasFailed: Bool) -> [TestIssue] {
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

    /// Starts to record a request.
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
