// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// Shared state in the files of a folder, for the processes of one machine: command-line tools, pre-forked servers, an app
/// and its extension.
///
/// - There is one file per key. Its name is a digest of the key.
/// - One process at a time changes files: a lock on a file in the folder, held for one operation. The lock of a process that
///   ends is released.
/// - A file is written beside its place and moved there, so that a process that is killed leaves the old file or the new
///   one.
/// - Files are for this user alone, and so is the folder if it is made here.
/// - Data is stored as it is. Encrypt secrets before you store them, as ``SharedSession`` does.
///
/// The store's clock is the machine's, which all processes share. A clock that is set back does not make a lease longer
/// than its duration; one that is set forward may end it early.
public final class FolderSharedState: SharedState {
    /// Where the files are.
    public let folder: URL

    private let files: SharedStateFiles
    private let timeSource: any TimeSource
    private let queue = DispatchQueue(label: "ApiConnector.FolderSharedState", qos: .userInitiated)

    /// Opens a store in a folder, which is made if it is missing.
    ///
    /// - Parameters:
    ///   - folder: Where the files are; nothing else belongs there.
    ///   - timeSource: The clock; ``/ApiConnector/TimeSource/system`` by default.
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.sharedStateUnavailable` if the folder cannot be made or
    ///   written.
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

    /// Replaces a record; it is on the disk when the call returns.
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

    /// Grants no more tokens for a time.
    public func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) {
        try await change(key, within: limit) { entry, now in entry.hold(duration, now: now) }
    }

    /// Changes an entry under the folder's lock; tries again while another process has it.
    private func change<Result: Sendable>(
        _ key: SharedStateKey,
        within limit: Duration,
        _ body: @escaping @Sendable (inout SharedEntry, _ now: Int64) -> Result
    ) async throws(ApiConnectorError) -> Result {
        let end = timeSource.now + limit
        var pause = Duration.milliseconds(1)
        while true {
            if Task.isCancelled { throw ApiConnectorError(.cancelled, "the operation on shared state was canceled") }
            if let result = try await attempt(key, body) { return result }
            let now = timeSource.now
            guard now < end else {
                throw .sharedStateUnavailable("another process has held the lock in \(folder.path()) for \(limit)")
            }
            try? await timeSource.sleep(until: min(now + pause, end))
            pause = min(pause * 2, .milliseconds(64))
        }
    }

    /// Nil if another process has the lock.
    private func attempt<Result: Sendable>(
        _ key: SharedStateKey,
        _ body: @escaping @Sendable (inout SharedEntry, _ now: Int64) -> Result
    ) async throws(ApiConnectorError) -> Result? {
        let outcome: Swift.Result<Result?, ApiConnectorError> = await withCheckedContinuation { continuation in
            queue.async { [files, timeSource] in
                let now = Int64(timeSource.date.timeIntervalSince1970 * 1_000_000)
                continuation.resume(
                    returning: Swift.Result { () throws(ApiConnectorError) in
                        try files.change(key) { body(&$0, now) }
                    }
                )
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
