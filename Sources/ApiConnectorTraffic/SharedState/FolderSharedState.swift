// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Shared state in the files of a folder, for the processes of one machine.
///
/// Examples are command-line tools, pre-forked servers, and an app with its extension.
///
/// - There is one file per key. Its name is a digest of the key.
/// - A lock on a file in the folder lets one process at a time change files. A process holds the lock for one
///   operation, and the system releases it when the process ends.
/// - A file is written under another name and then moved, so that a killed process leaves either the old file or the
///   new one.
/// - Once a day, a process removes the files whose records, leases, buckets and places ended a day ago or earlier. The
///   file of a record without a lifetime stays, even if the record was removed.
/// - Only the current user can read the files. The same holds for a folder that the store makes.
/// - Data is stored unencrypted. Encrypt secrets before you store them, as ``SharedSession`` does.
///
/// The operations of one process run one after the other. A call ends at its time limit or a cancellation, even if the
/// disk hangs. An operation that has not begun by then changes nothing. An operation that has begun may still make its
/// change when the disk responds again.
///
/// The store uses the machine's clock, which all processes share. If the clock is set back, a lease does not become
/// longer than its duration. If the clock is set forward, a lease may end early.
public final class FolderSharedState: SharedState {
    /// The folder of the files.
    public let folder: URL

    private let files: SharedStateFiles
    private let timeSource: any TimeSource
    private let queue = DispatchQueue(label: "ApiConnector.FolderSharedState", qos: .userInitiated)
    private let sweepQueue = DispatchQueue(label: "ApiConnector.FolderSharedState.sweep", qos: .utility)

    /// Opens a store in a folder, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - folder: The folder for the files. Keep no other files in it.
    ///   - timeSource: The clock; ``/ApiConnector/TimeSource/system`` by default.
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.sharedStateUnavailable` if the folder cannot be created
    ///   or written.
    public init(folder: URL, timeSource: any TimeSource = .system) throws(ApiConnectorError) {
        self.folder = folder
        self.timeSource = timeSource
        files = try SharedStateFiles(folder.path(percentEncoded: false))
    }

    /// The record of a key.
    public func record(for key: SharedStateKey, within limit: Duration) async throws(ApiConnectorError) -> SharedRecord
    {
        try await change(key, within: limit) { entry, now in entry.record(now: now) }
    }

    /// Replaces a record.
    ///
    /// When the call returns, the new record is in the file system, and a crash of the system does not lose it. On
    /// Apple's systems, the drive may still have it only in its cache, and lose it when its power fails.
    public func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) async throws(ApiConnectorError) -> UInt64? {
        try await change(key, within: limit) { entry, now in
            entry.replace(with: data, ifVersion: version, lifetime: lifetime, now: now)
        }
    }

    /// Acquires a lease.
    ///
    /// A call that ends at its time limit or a cancellation may still acquire the lease. The caller does not get that
    /// lease and cannot end it, so it stays until it expires.
    public func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedLease? {
        let number = try await change(key, within: limit) { entry, now in
            entry.acquire(owner, for: duration, now: now)
        }
        return number.map { SharedLease(key: key, owner: owner, number: $0) }
    }

    /// Ends a lease.
    public func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError) {
        try await change(lease.key, within: limit) { entry, _ in entry.end(lease) }
    }

    /// Takes tokens.
    public func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedTokens {
        try await change(key, within: limit) { entry, now in
            entry.take(count, at: rate, ahead: horizon, now: now)
        }
    }

    /// Replaces the places of an owner.
    public func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedPlaces {
        try await change(key, within: limit) { entry, now in
            entry.takePlaces(wantedCount, of: totalCount, owner: owner, using: usedCount, lasting: duration, now: now)
        }
    }

    /// Stops granting tokens for a time.
    public func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) {
        try await change(key, within: limit) { entry, now in entry.hold(duration, now: now) }
    }

    /// Changes an entry under the folder's lock; tries again while another process has the lock.
    private func change<Result: Sendable>(
        _ key: SharedStateKey,
        within limit: Duration,
        _ body: @escaping @Sendable (inout SharedEntry, _ now: Int64) -> Result
    ) async throws(ApiConnectorError) -> Result {
        let end = timeSource.now + limit
        var pause = Duration.milliseconds(1)
        // The last attempt begins at the limit, after another process had the lock.
        var isLast = false
        var wasLocked = false
        while true {
            switch try await attempt(key, before: end, body) {
            case .done(let result): return result
            case .locked: wasLocked = true
            case .late where isLast: break
            case .late:
                let lock = wasLocked ? "another process has held the lock before; " : ""
                throw .sharedStateUnavailable(
                    "this process could not finish an operation in \(folder.path()) within \(limit); \(lock)the disk "
                        + "may be slow, or may not respond"
                )
            }
            let now = timeSource.now
            guard now < end else {
                throw .sharedStateUnavailable("another process has held the lock in \(folder.path()) for \(limit)")
            }
            try? await timeSource.sleep(until: min(now + pause, end))
            isLast = timeSource.now >= end
            pause = min(pause * 2, .milliseconds(64))
        }
    }

    private enum Attempt<Result: Sendable> {
        case done(Result)
        /// Another process has the lock.
        case locked
        /// The time limit was over before the operation ended.
        case late
    }

    /// Changes an entry once; ends at the time limit or a cancellation, even if the queue is blocked.
    private func attempt<Result: Sendable>(
        _ key: SharedStateKey,
        before end: Duration,
        _ body: @escaping @Sendable (inout SharedEntry, _ now: Int64) -> Result
    ) async throws(ApiConnectorError) -> Attempt<Result> {
        let attempt = PendingResult<Attempt<Result>>()
        let cancelTimer = timeSource.schedule(at: end) { attempt.resume(with: .success(.late)) }
        defer { cancelTimer() }
        let cancelled = ApiConnectorError(.cancelled, "the operation on shared state was canceled")
        let outcome = await attempt.result(ifCanceled: .failure(cancelled)) {
            queue.async { [files, timeSource, sweepQueue] in
                // The caller does not wait for an attempt that is over.
                guard !attempt.isOver, timeSource.now <= end else {
                    attempt.resume(with: .success(.late))
                    return
                }
                let now = Int64(timeSource.date.timeIntervalSince1970 * 1_000_000)
                attempt.resume(
                    with: Swift.Result { () throws(ApiConnectorError) in
                        try files.change(key) { body(&$0, now) }.map { .done($0) } ?? .locked
                    }
                )
                if files.beginSweep(now: now) { sweepQueue.async { files.sweep(now: now) } }
            }
        }
        return try outcome.get()
    }
}

extension ApiConnectorError {
    static func sharedStateUnavailable(_ detail: String) -> ApiConnectorError {
        ApiConnectorError(.sharedStateUnavailable, detail)
    }
}

/// The files of a ``FolderSharedState``: one per key, and one for the lock.
final class SharedStateFiles: Sendable {
    private let path: String
    private let calls: CacheFileCalls

    init(_ path: String, calls: CacheFileCalls = .system) throws(ApiConnectorError) {
        self.calls = calls
        self.path = path.hasSuffix("/") ? path : path + "/"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: attributes
            )
        } catch {
            throw .sharedStateUnavailable("the folder \(path) cannot be created: \(error.localizedDescription)")
        }
        close(try openLock())
    }

    /// Changes the entry of a key; nil if another process has the lock.
    ///
    /// When this returns, a new version of the entry's record is on the disk.
    func change<Result>(
        _ key: SharedStateKey,
        _ body: (inout SharedEntry) -> Result
    ) throws(ApiConnectorError) -> Result? {
        let lock = try openLock()
        defer { close(lock) }
        guard calls.lock(lock) == 0 else {
            // Any other error will not go away: some file systems have no locks.
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("locked") }
            return nil
        }
        // Closing alone does not release the lock while a process that is being started has a copy of the descriptor.
        defer { flock(lock, LOCK_UN) }
        let place = path + Self.name(of: key)
        let known = try entry(at: place) ?? SharedEntry()
        var entry = known
        let result = body(&entry)
        if entry != known { try write(entry, to: place) }
        // After a crash of the system, no process remembers a lease or a token, so only a record has to be there again.
        if entry.version != known.version, !syncFolder() { throw failure("written") }
        return result
    }

    /// The entry in a file; nil if there is no file, or if another program has changed it.
    private func entry(at place: String) throws(ApiConnectorError) -> SharedEntry? {
        do throws(POSIXError) {
            let data = try RegularFile.contents(of: place)
            let entry = try? JSONDecoder().decode(SharedEntry.self, from: data)
            return entry?.isValid == true ? entry : nil
        } catch {
            if error.code == .ENOENT { return nil }
            // The process may have too many open files. The entry must not be replaced with an empty one.
            throw failure("read", error.code.rawValue)
        }
    }

    /// Whether the folder has not been swept for a day.
    ///
    /// If so, it counts as swept from now on. The date of the lock's file says when it was swept last.
    func beginSweep(now: Int64) -> Bool {
        let lock = path + "lock"
        guard let time = FileStatus(of: lock)?.time, abs(now - time / 1000) >= SharedEntry.day else { return false }
        let date = Date(timeIntervalSince1970: Double(now) / 1_000_000)
        return (try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: lock)) != nil
    }

    /// Removes the files of entries that are over, and the files that killed processes were writing.
    ///
    /// Between two files, other operations can take the lock. If another process holds the lock for about a quarter of
    /// a second, the rest stays until the next sweep.
    func sweep(now: Int64) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names where isOver(name, now: now) {
            guard let lock = CacheFolderLock(in: path, isPatient: true, calls: calls) else { return }
            // Another process may have changed the file before this one had the lock.
            if isOver(name, now: now) { unlink(path + name) }
            lock.release()
        }
    }

    /// Whether a file has had no state for a day; false if it cannot be read.
    private func isOver(_ name: String, now: Int64) -> Bool {
        guard let time = FileStatus(of: path + name)?.time, time / 1000 <= now - SharedEntry.day else { return false }
        if name.hasSuffix(".new") { return true }
        guard name.hasSuffix(".json") else { return false }
        do throws(ApiConnectorError) { return try entry(at: path + name)?.isOver(now: now) != false } catch {
            return false
        }
    }

    private func write(_ entry: SharedEntry, to place: String) throws(ApiConnectorError) {
        guard let data = try? JSONEncoder().encode(entry) else {
            throw .sharedStateUnavailable("an entry does not encode")
        }
        let temporary = place + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure("written") }
        let isWritten = calls.write(data, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, place) == 0 else {
            let error = failure("written")
            unlink(temporary)
            throw error
        }
    }

    /// Writes the names of the files to the disk.
    private func syncFolder() -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Some file systems refuse this.
        return fsync(descriptor) == 0 || errno == EINVAL
    }

    private func openLock() throws(ApiConnectorError) -> Int32 {
        let descriptor = open(path + "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw failure("opened") }
        return descriptor
    }

    private func failure(_ verb: String, _ code: Int32 = errno) -> ApiConnectorError {
        .sharedStateUnavailable("a file in \(path) cannot be \(verb): \(String(cString: strerror(code)))")
    }

    private static func name(of key: SharedStateKey) -> String {
        let digits = SHA256Digest.digest(of: Array(key.description.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return digits.joined() + ".json"
    }
}
