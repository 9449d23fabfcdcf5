// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The file of a download until the download is complete.
///
/// It is next to its target, locked against other downloads, and accompanied by a record of the download.
///
/// Only one reader at a time uses it. If the download can be resumed, the bytes stay on the disk when this object is
/// released; otherwise they are removed.
final class PartFile: Sendable {
    private struct State {
        var record: DownloadRecord?
        var byteCount: Int
        /// The largest number of bytes so far, and whether the last write increased it.
        var furthest: Int
        var isAtFurthest = true
        /// Whether to keep the bytes for a later run.
        var isKept: Bool
        var isMoved = false
        var isReleased = false
    }

    let target: URL
    private let part: String
    private let note: String
    private let descriptor: Int32
    private let calls: FileCalls
    private let state: Locked<State>

    /// Opens or creates the part file of a target.
    ///
    /// - Parameters:
    ///   - target: The location of the complete file.
    ///   - url: The URL with secrets replaced.
    /// - Throws: ``ApiConnectorError`` of kind `.other` if the target cannot be written, or if another download to it
    ///   is running.
    init(of target: URL, from url: String, calls: FileCalls = .system) throws(ApiConnectorError) {
        self.target = target
        self.calls = calls
        let path = target.path(percentEncoded: false)
        let folder = target.deletingLastPathComponent().path(percentEncoded: false)
        let name = target.lastPathComponent
        part = folder + ".\(name).part"
        note = folder + ".\(name).part.json"
        guard target.isFileURL else { throw .file(path, reason: "it is not a file URL") }
        guard FileCalls.kind(of: path) != S_IFDIR else { throw .file(path, reason: "it is a directory") }
        descriptor = try Self.lock(part, for: path)
        let byteCount = Int(clamping: lseek(descriptor, 0, SEEK_END))
        var record = FileManager.default.contents(atPath: note)
            .flatMap { try? JSONDecoder().decode(DownloadRecord.self, from: $0) }
        let isKept = record != nil && byteCount > 0
        if !isKept || record?.url != url || byteCount > record?.totalByteCount ?? .max { record = nil }
        state = Locked(State(record: record, byteCount: record == nil ? 0 : byteCount, furthest: 0, isKept: isKept))
    }

    deinit {
        release()
    }

    /// Releases the file and the lock, and keeps or removes the file.
    func release() {
        let isOpen = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        guard isOpen else { return }
        state.withLock { state in
            guard !state.isMoved, !state.isKept || lseek(descriptor, 0, SEEK_END) == 0 else { return }
            unlink(part)
            unlink(note)
        }
        // Unlocks explicitly, because a child process that is being started has a copy of the descriptor, which would
        // keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The number of bytes in the file.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The offset and the version for requesting the rest; nil to request the whole file.
    ///
    /// If the file already has all bytes, the last byte is requested again, because a range cannot be empty.
    var point: (offset: Int, record: DownloadRecord)? {
        state.withLock { state in
            guard let record = state.record else { return nil }
            let offset = min(state.byteCount, (record.totalByteCount ?? .max) - 1)
            return offset > 0 ? (offset, record) : nil
        }
    }

    /// Whether the download can be resumed.
    var isResumable: Bool { state.withLock { $0.record != nil } }

    /// Whether the last write reached a new offset.
    var isAtFurthest: Bool { state.withLock { $0.isAtFurthest } }

    /// Starts over.
    ///
    /// - Parameter record: The record of the new download; nil if it cannot be resumed.
    func begin(_ record: DownloadRecord?) throws(ApiConnectorError) {
        state.withLock { state in
            state.record = nil
            state.byteCount = 0
            state.isKept = false
        }
        // The order matters, and the truncation is flushed first: old bytes must never be next to a new record.
        if lseek(descriptor, 0, SEEK_END) > 0 {
            guard ftruncate(descriptor, 0) == 0, FileCalls.synchronise(descriptor) == 0 else { throw failure() }
        }
        unlink(note)
        guard let record else { return }
        try writeNote(record)
        state.withLock { state in
            state.record = record
            state.isKept = true
        }
    }

    /// Continues at an offset within the file.
    func goOn(at offset: Int) throws(ApiConnectorError) {
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw failure() }
        state.withLock { state in
            state.byteCount = offset
            state.furthest = max(state.furthest, offset)
        }
    }

    /// Writes the next bytes; usually this only copies them to the system's page cache.
    func append(_ chunk: Data) throws(ApiConnectorError) {
        let start = byteCount
        guard chunk.count <= .max - start else {
            throw .file(target.path(percentEncoded: false), reason: "it has more than \(Int.max) bytes")
        }
        let written = calls.write(chunk, to: descriptor, at: start)
        state.withLock { state in
            state.byteCount = start + written.byteCount
            state.isAtFurthest = state.byteCount > state.furthest
            state.furthest = max(state.furthest, state.byteCount)
        }
        if written.code != 0 { throw failure(written.code) }
    }

    /// Discards the bytes, because they are not those of the expected file.
    func discard() {
        state.withLock { state in
            state.record = nil
            state.isKept = false
        }
    }

    /// Flushes the complete file to the disk, and moves it to its place.
    ///
    /// Waiting for the disk can take seconds, so it does not run on a thread of Swift's task pool. A cancellation does
    /// not end that wait: the file is complete, and is moved.
    ///
    /// - Parameter totalByteCount: The expected length; nil if unknown.
    /// - Throws: ``ApiConnectorError`` of kind `.connectionLost` if the file is shorter.
    func finish(_ totalByteCount: Int?) async throws(ApiConnectorError) {
        if let totalByteCount, byteCount < totalByteCount {
            throw ApiConnectorError(
                .connectionLost,
                at: .response,
                "the body ended after \(byteCount) of \(totalByteCount) bytes"
            )
        }
        let code = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.move()) }
        }
        if code != 0 { throw failure(code) }
    }

    /// - Returns: The error number; 0 for success.
    private func move() -> Int32 {
        guard FileCalls.synchronise(descriptor) == 0, rename(part, target.path(percentEncoded: false)) == 0 else {
            return errno
        }
        state.withLock { $0.isMoved = true }
        unlink(note)
        FileCalls.synchronise(folder: target.deletingLastPathComponent().path(percentEncoded: false))
        return 0
    }

    private func writeNote(_ record: DownloadRecord) throws(ApiConnectorError) {
        let path = target.path(percentEncoded: false)
        guard let data = try? JSONEncoder().encode(record) else {
            throw .file(path, reason: "its record does not encode")
        }
        let descriptor = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let written = calls.write(data, to: descriptor, at: 0)
        if written.code != 0 { throw failure(written.code) }
    }

    private func failure(_ code: Int32 = errno) -> ApiConnectorError {
        .file(target.path(percentEncoded: false), code: code)
    }

    /// Opens a part file and locks it.
    private static func lock(_ part: String, for path: String) throws(ApiConnectorError) -> Int32 {
        while true {
            let descriptor = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard descriptor >= 0 else { throw .file(path, code: errno) }
            var failure: ApiConnectorError?
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let isTaken = errno == EWOULDBLOCK
                failure =
                    isTaken ? .file(path, reason: "another download to it is running") : .file(path, code: errno)
            } else if FileCalls.kind(of: part) != S_IFREG, FileCalls.kind(of: part) != nil {
                failure = .file(path, reason: "\(part) exists and is not a regular file")
            } else if FileCalls.isOpen(part, as: descriptor) {
                return descriptor
            }
            close(descriptor)
            // Without an error, try again: the download that had the lock has moved or removed the file meanwhile.
            if let failure { throw failure }
        }
    }
}

extension ApiConnectorError {
    fileprivate static func file(_ path: String, code: Int32) -> ApiConnectorError {
        let underlying = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
        return .file(path, reason: String(cString: strerror(code)), underlying: underlying)
    }

    fileprivate static func file(
        _ path: String,
        reason: String,
        underlying: (any Error)? = nil
    ) -> ApiConnectorError {
        ApiConnectorError(
            .other,
            at: .response,
            "the download cannot be written to \(path): \(reason)",
            underlying: underlying
        )
    }
}
