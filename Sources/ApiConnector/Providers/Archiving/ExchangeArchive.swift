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
/// With the defaults that is about 14 MiB, plus the URLs and header fields. It also remembers the secret values of
/// multipart forms, and of request bodies of up to 64 KiB that it does not keep whole. It replaces these values
/// everywhere in the exchange. In a longer body, secrets are recognized by name, but a value after the kept bytes is
/// not replaced where the server repeats it.
///
/// A HAR file has up to ``bodyByteCount`` bytes of each body, written as JSON. There, a quotation mark or a line break
/// takes 2 bytes, another control character up to 6, and binary data 4/3 of its size. So a file has at most 6 times
/// ``bodyByteCount`` for each body: 75 MiB with the defaults. The URLs and header fields add to this, and query items
/// and cookies are written twice. The archive makes the whole file in memory.
public final class ExchangeArchive: Sendable {
    /// The maximum number of exchanges; the oldest one is removed first.
    public let exchangeCount: Int

    /// The maximum number of bytes shown of each body.
    public let bodyByteCount: Int

    let redactor: Redactor
    private let failureFile: URL?
    private let failureFileInterval: Duration
    private let timeSource: any TimeSource
    private let onChange: (@Sendable (Int) -> Void)?
    private let state: Locked<State>
    /// A write waits for the disk, and must not occupy one of the few threads that run tasks.
    private let queue = DispatchQueue(label: "ApiConnector.ExchangeArchive", qos: .utility)

    private static let flushLimit = Duration.seconds(10)

    private struct State {
        /// Exchange *n* is at index *n* modulo the count.
        var entries: [ArchiveEntry?]
        var lastNumber = 0
        /// How often all exchanges were removed.
        var removalCount = 0
        /// Whether the failure file is being written.
        var isWriting = false
        /// Whether the next write is scheduled.
        var isScheduled = false
        /// Whether an exchange has failed since the exchanges were last read for the file.
        var isStale = false
        /// The earliest time of the next write.
        var nextWriteTime: Duration?
        var failureFileError: (any Error)?
        var waiters: [PendingResult<Void>] = []
    }

    /// Makes an empty archive.
    ///
    /// - Parameters:
    ///   - exchangeCount: The maximum number of exchanges, at least 1; 100 by default.
    ///   - bodyByteCount: The maximum number of bytes shown of each body, at most 64 MiB; 64 KiB by default.
    ///   - redactor: Replaces secrets; ``Redactor/standard`` by default.
    ///   - failureFile: A HAR file that a background thread replaces after an exchange has failed; none by default.
    ///   - failureFileInterval: The minimum time between two writes of the failure file; 10 seconds by default. The first
    ///     failure is written at once. Later failures are written together when the interval is over. After a crash, the
    ///     failures of the last interval may be missing.
    ///   - timeSource: The clock for the interval; the system's by default.
    ///   - onChange: Called with the ``ArchivedExchange/number`` of an exchange when it begins, receives its head or a
    ///     part of its body, and ends. It must not block. Nil by default.
    public init(
        exchangeCount: Int = 100,
        bodyByteCount: Int = 64 * 1024,
        redacting redactor: Redactor = .standard,
        failureFile: URL? = nil,
        failureFileInterval: Duration = .seconds(10),
        timeSource: any TimeSource = .system,
        onChange: (@Sendable (Int) -> Void)? = nil
    ) {
        self.exchangeCount = max(exchangeCount, 1)
        self.bodyByteCount = min(max(bodyByteCount, 0), 64 * 1024 * 1024)
        self.redactor = redactor
        self.failureFile = failureFile
        self.failureFileInterval = failureFileInterval.bounded
        self.timeSource = timeSource
        self.onChange = onChange
        state = Locked(State(entries: Array(repeating: nil, count: max(exchangeCount, 1))))
    }

    /// The exchanges in the archive, in the order in which they were stored.
    public var exchanges: [ArchivedExchange] { exchanges(after: 0) }

    /// The exchanges in the archive that were stored after another exchange.
    ///
    /// - Parameter number: The ``ArchivedExchange/number`` of the other exchange; 0 returns all.
    public func exchanges(after number: Int) -> [ArchivedExchange] {
        let entries = state.withLock { state in
            let first = max(state.lastNumber - exchangeCount, number, 0) + 1
            guard first <= state.lastNumber else { return [] as [ArchiveEntry] }
            return (first...state.lastNumber).compactMap { state.entries[$0 % exchangeCount] }
        }
        return entries.compactMap(shown)
    }

    /// The exchange with a number; nil if it is no longer in the archive.
    public func exchange(number: Int) -> ArchivedExchange? {
        guard number > 0 else { return nil }
        let entry = state.withLock { state in
            state.entries[number % exchangeCount].flatMap { $0.number == number ? $0 : nil }
        }
        return entry.flatMap(shown)
    }

    /// The exchange of an entry; nil if it has left the archive meanwhile: the secrets of its body are then unknown.
    private func shown(_ entry: ArchiveEntry) -> ArchivedExchange? {
        let snapshot = entry.snapshot()
        return snapshot.isForgotten ? nil : ArchivedExchange(snapshot, redactor, bodyByteCount)
    }

    /// Removes all exchanges, also one whose request's body is being encoded now.
    public func removeAll() {
        let forgotten = state.withLock { state in
            defer { state.entries = Array(repeating: nil, count: exchangeCount) }
            state.removalCount += 1
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

    /// The error of the latest write of the failure file; nil if it succeeded, or if none has ended yet.
    ///
    /// If ``flush()`` has stopped waiting, this is an error of kind `.timedOut` until the write ends.
    ///
    /// A failed write is not repeated. The file is written again after another exchange has failed.
    public var failureFileError: (any Error)? { state.withLock { $0.failureFileError } }

    /// Writes the failure file now if an exchange has failed since the latest write, and waits for the end of the write.
    ///
    /// Call it before the program ends. It waits for at most 10 seconds, because a disk may not respond. If the write
    /// fails or takes longer, ``failureFileError`` has the error. The write is not stopped.
    public func flush() async {
        guard let failureFile else { return }
        let end = PendingResult<Void>()
        let (isIdle, starts) = state.withLock { state in
            let starts = !state.isWriting && state.isStale
            let isIdle = !state.isWriting && !state.isStale
            if !isIdle { state.waiters.append(end) }
            if starts { state.isWriting = true }
            return (isIdle, starts)
        }
        if isIdle { return }
        if starts { startWriting(to: failureFile) }
        let late = ApiConnectorError(
            .timedOut,
            "the failure file \(failureFile.path(percentEncoded: false)) was not written within \(Self.flushLimit)"
        )
        guard case .failure = await end.result(within: Self.flushLimit, by: timeSource, or: late) else { return }
        state.withLock { state in
            state.waiters.removeAll { $0 === end }
            if state.isWriting { state.failureFileError = late }
        }
    }

    func begin(_ request: ApiRequest) -> ArchiveEntry {
        let removalCount = state.withLock { $0.removalCount }
        // This encodes the body, which runs the program's code. So it must not hold the lock.
        let entry = ArchiveEntry(request, bodyByteCount: bodyByteCount, redacting: redactor)
        // The numbers have the order in which the exchanges are stored, so that `exchanges(after:)` misses none.
        let forgotten = state.withLock { state -> ArchiveEntry? in
            // An exchange that was removed meanwhile gets no number, and takes the place of no other one.
            guard state.removalCount == removalCount else { return entry }
            state.lastNumber += 1
            entry.setNumber(state.lastNumber)
            let slot = state.lastNumber % exchangeCount
            defer { state.entries[slot] = entry }
            return state.entries[slot]
        }
        forgotten?.dropBodies()
        changed(entry)
        return entry
    }

    func changed(_ entry: ArchiveEntry) {
        let number = entry.number
        if number > 0 { onChange?(number) }
    }

    func ended(_ entry: ArchiveEntry, _ outcome: CallEvent.Outcome) {
        changed(entry)
        guard let failureFile, outcome.isFailure, entry.number > 0 else { return }
        state.withLock { $0.isStale = true }
        writeWhenDue(to: failureFile)
    }

    /// Starts to write the failure file if an exchange has failed, or schedules the write for the end of the interval.
    private func writeWhenDue(to file: URL) {
        let now = timeSource.now
        let (starts, due) = state.withLock { state -> (Bool, Duration?) in
            guard state.isStale, !state.isWriting, !state.isScheduled else { return (false, nil) }
            if let due = state.nextWriteTime, due > now {
                state.isScheduled = true
                return (false, due)
            }
            state.isWriting = true
            return (true, nil)
        }
        if starts { startWriting(to: file) }
        guard let due else { return }
        // The action keeps the archive alive, so that the latest failures are written even if the program releases it.
        _ = timeSource.schedule(at: due) { [self] in
            state.withLock { $0.isScheduled = false }
            writeWhenDue(to: file)
        }
    }

    private func startWriting(to file: URL) {
        queue.async { [self] in writeFailures(to: file) }
    }

    /// Writes the file.
    ///
    /// Writes it again if another exchange has failed meanwhile and a call of ``flush()`` waits.
    private func writeFailures(to file: URL) {
        var goesOn = true
        while goesOn {
            let waiters = state.withLock { state in
                state.isStale = false
                defer { state.waiters = [] }
                return state.waiters
            }
            var failure: (any Error)?
            do { try save(to: file) } catch { failure = error }
            let nextWriteTime = timeSource.now + failureFileInterval
            let late = state.withLock { state in
                state.failureFileError = failure
                state.nextWriteTime = nextWriteTime
                goesOn = state.isStale && !state.waiters.isEmpty
                guard !goesOn else { return [] as [PendingResult<Void>] }
                state.isWriting = false
                // Nothing has failed since this write began, so these waiters have waited for this write.
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters + late { waiter.resume(with: .success(())) }
        }
        writeWhenDue(to: file)
    }
}
