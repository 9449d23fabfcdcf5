// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Keeps the latest exchanges of a program in bounded memory, and writes them to a HAR file.
///
/// ```swift
/// let archive = ExchangeArchive(failureFile: logs.appending(path: "failures.har"))
/// let provider = SystemProvider().archived(in: archive).retrying()
/// ```
///
/// Browsers' developer tools can open the file. Everything that leaves the archive is redacted. In addition to the
/// rules of the archive's redactor, the secret values of each request are replaced wherever they occur.
///
/// The archive keeps up to ``exchangeCount`` exchanges. Of each body it keeps up to ``bodyByteCount`` bytes plus 8 KiB.
/// With the defaults that is about 14 MiB, plus the header fields. A file is at most about 1.4 times as large.
public final class ExchangeArchive: Sendable {
    /// The maximum number of exchanges; the oldest one is removed first.
    public let exchangeCount: Int

    /// The maximum number of bytes shown of each body.
    public let bodyByteCount: Int

    let redactor: Redactor
    private let failureFile: URL?
    private let onChange: (@Sendable (Int) -> Void)?
    private let state: Locked<State>

    private struct State {
        /// Exchange *n* is at index *n* modulo the count.
        var entries: [ArchiveEntry?]
        var lastNumber = 0
        /// Whether a task writes the failure file.
        var isWriting = false
        /// Whether a call has failed since that task last read the exchanges.
        var isStale = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Makes an empty archive.
    ///
    /// - Parameters:
    ///   - exchangeCount: The maximum number of exchanges, at least 1; 100 by default.
    ///   - bodyByteCount: The maximum number of bytes shown of each body, at most 64 MiB; 64 KiB by default.
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - failureFile: A HAR file that a background task replaces whenever an exchange fails; none by default.
    ///   - onChange: Called with the ``ArchivedExchange/number`` of an exchange when it begins, receives its head or a
    ///     part of its body, and ends. It must not block. Nil by default.
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

    /// The exchanges in the archive, in the order in which they began.
    public var exchanges: [ArchivedExchange] { exchanges(after: 0) }

    /// The exchanges in the archive that began after another exchange.
    ///
    /// - Parameter number: The ``ArchivedExchange/number`` of the other exchange; 0 returns all.
    public func exchanges(after number: Int) -> [ArchivedExchange] {
        let entries = state.withLock { state in
            let first = max(state.lastNumber - exchangeCount, number, 0) + 1
            guard first <= state.lastNumber else { return [] as [ArchiveEntry] }
            return (first...state.lastNumber).compactMap { state.entries[$0 % exchangeCount] }
        }
        return entries.map { ArchivedExchange($0.snapshot(), redactor, bodyByteCount) }
    }

    /// The exchange with a number; nil if it is no longer in the archive.
    public func exchange(number: Int) -> ArchivedExchange? {
        guard number > 0 else { return nil }
        let entry = state.withLock { state in
            state.entries[number % exchangeCount].flatMap { $0.number == number ? $0 : nil }
        }
        return entry.map { ArchivedExchange($0.snapshot(), redactor, bodyByteCount) }
    }

    /// Removes all exchanges.
    public func removeAll() {
        let forgotten = state.withLock { state in
            defer { state.entries = Array(repeating: nil, count: exchangeCount) }
            return state.entries
        }
        for entry in forgotten { entry?.dropBodies() }
    }

    /// The exchanges in HAR 1.2 format, with secrets replaced.
    public func har() throws -> Data {
        try HARFile.data(exchanges.map(HAREntry.init))
    }

    /// Writes the exchanges to a file in HAR 1.2 format, with secrets replaced.
    ///
    /// The file is replaced atomically.
    ///
    /// - Throws: The error of the file system.
    public func save(to file: URL) throws {
        try har().write(to: file, options: .atomic)
    }

    /// Waits until the failure file contains every exchange that has failed.
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

    func ended(_ entry: ArchiveEntry, _ outcome: CallEvent.Outcome) {
        onChange?(entry.number)
        guard let failureFile, outcome.isFailure else { return }
        let starts = state.withLock { state in
            state.isStale = true
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if starts { Task(priority: .utility) { writeFailures(to: failureFile) } }
    }

    /// Writes the file, and writes it again if another call has failed meanwhile.
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
            // A full disk must not end the program, and the next failure writes the file again.
            try? save(to: file)
        }
    }
}
