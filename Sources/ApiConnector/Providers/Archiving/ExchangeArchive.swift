// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the last exchanges of a running program in bounded memory, and writes them as a HAR file.
///
/// ```swift
/// let archive = ExchangeArchive(failureFile: logs.appending(path: "failures.har"))
/// let provider = SystemProvider().archived(in: archive).retrying()
/// ```
///
/// Browsers' developer tools open the file. Secrets are replaced in everything that leaves the archive, by the redactor of
/// the archive and what each request knows about its own secrets.
///
/// The archive keeps up to ``exchangeCount`` exchanges, and of each body up to ``bodyByteCount`` bytes and 8 KiB. With the
/// defaults that is at most 14 MiB, plus the header fields. A file is at most about 1.4 times as long.
public final class ExchangeArchive: Sendable {
    /// How many exchanges are kept; the oldest is forgotten first.
    public let exchangeCount: Int

    /// How many bytes of each body are shown.
    public let bodyByteCount: Int

    let redactor: Redactor
    private let failureFile: URL?
    private let onChange: (@Sendable (Int) -> Void)?
    private let state: Locked<State>

    private struct State {
        /// The exchange of number *n* is at *n* modulo the count.
        var entries: [ArchiveEntry?]
        var lastNumber = 0
        /// Whether a task writes the failure file.
        var isWriting = false
        /// Whether a call has failed since that task read the exchanges.
        var isStale = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Makes an empty archive.
    ///
    /// - Parameters:
    ///   - exchangeCount: How many exchanges are kept, at least 1; 100 by default.
    ///   - bodyByteCount: How many bytes of each body are shown, at most 64 MiB; 64 KiB by default.
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - failureFile: The file that is replaced each time an exchange fails, by a task in the background; none by default.
    ///   - onChange: Called with an exchange's ``ArchivedExchange/number`` when it begins, gets its head or a part of its
    ///     body, and ends. It must not wait. Nothing by default.
    public init(
        exchangeCount: Int = 100,
        bodyByteCount: Int = 64 * 1024,
        redacting redactor: Redactor = .standard,
        failureFile: URL? = nil,
        onChange: (@Sendable (Int) -> Void)? = nil
    ) {
        self.exchangeCount = max(exchangeCount, 1)
        self.bodyByteCount = min(max(bodyByteCount, 0), 64 * 1024 * 1024)
        self.redactor = redactor
        self.failureFile = failureFile
        self.onChange = onChange
        state = Locked(State(entries: Array(repeating: nil, count: max(exchangeCount, 1))))
    }

    /// The exchanges that are kept, in the order in which they began.
    public var exchanges: [ArchivedExchange] { exchanges(after: 0) }

    /// The exchanges that are kept and began after another one.
    ///
    /// - Parameter number: The other one's ``ArchivedExchange/number``; 0 for all.
    public func exchanges(after number: Int) -> [ArchivedExchange] {
        let entries = state.withLock { state in
            let first = max(state.lastNumber - exchangeCount, number, 0) + 1
            guard first <= state.lastNumber else { return [] as [ArchiveEntry] }
            return (first...state.lastNumber).compactMap { state.entries[$0 % exchangeCount] }
        }
        return entries.map { ArchivedExchange($0.snapshot(), redactor, bodyByteCount) }
    }

    /// One of the exchanges that are kept; nil if it was forgotten.
    public func exchange(number: Int) -> ArchivedExchange? {
        guard number > 0 else { return nil }
        let entry = state.withLock { state in
            state.entries[number % exchangeCount].flatMap { $0.number == number ? $0 : nil }
        }
        return entry.map { ArchivedExchange($0.snapshot(), redactor, bodyByteCount) }
    }

    /// Forgets all exchanges.
    public func removeAll() {
        let forgotten = state.withLock { state in
            defer { state.entries = Array(repeating: nil, count: exchangeCount) }
            return state.entries
        }
        for entry in forgotten { entry?.dropBodies() }
    }

    /// The exchanges as a file of HAR 1.2, with secrets replaced.
    public func har() throws -> Data {
        try HARFile.data(exchanges.map(HAREntry.init))
    }

    /// Writes the exchanges to a file of HAR 1.2, with secrets replaced.
    ///
    /// The file is replaced whole or not at all.
    ///
    /// - Throws: The error of the file system.
    public func save(to file: URL) throws {
        try har().write(to: file, options: .atomic)
    }

    /// Waits until the failure file has every exchange that has failed.
    public func flush() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isWriting { state.waiters.append(continuation) }
                return !state.isWriting
            }
            if isIdle { continuation.resume() }
        }
    }

    func begin(_ request: ApiRequest) -> ArchiveEntry {
        let (entry, forgotten) = state.withLock { state in
            state.lastNumber += 1
            let entry = ArchiveEntry(request, number: state.lastNumber, bodyByteCount: bodyByteCount)
            let slot = state.lastNumber % exchangeCount
            let forgotten = state.entries[slot]
            state.entries[slot] = entry
            return (entry, forgotten)
        }
        forgotten?.dropBodies()
        onChange?(entry.number)
        return entry
    }

    func changed(_ entry: ArchiveEntry) {
        onChange?(entry.number)
    }

    func ended(_ entry: ArchiveEntry, _ outcome: CallOutcome) {
        onChange?(entry.number)
        guard let failureFile, outcome.isFailure else { return }
        let starts = state.withLock { state in
            state.isStale = true
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { Task(priority: .utility) { writeFailures(to: failureFile) } }
    }

    /// Writes the file until no call has failed since.
    private func writeFailures(to file: URL) {
        while true {
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                if state.isStale {
                    state.isStale = false
                    return nil
                }
                state.isWriting = false
                defer { state.waiters = [] }
                return state.waiters
            }
            if let waiters {
                for waiter in waiters { waiter.resume() }
                return
            }
            // A disk that is full must not end the program, and the next failure tries again.
            try? save(to: file)
        }
    }
}
