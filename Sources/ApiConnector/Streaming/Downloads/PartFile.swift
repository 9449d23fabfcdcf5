// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The file that a download goes to until it is whole: beside its target, locked against other downloads, and with a
/// record of what it is the beginning of.
///
/// Its calls belong to one reader at a time. What it holds is kept when it is released, where it can be resumed, and
/// removed otherwise.
final class PartFile: Sendable {
    private struct State {
        var record: DownloadRecord?
        var byteCount: Int
        /// The most bytes that were there at any time, and whether the last ones led there.
        var furthest: Int
        var isAtFurthest = true
        /// Whether what is there is worth keeping.
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

    /// Opens the part of a target, or makes it.
    ///
    /// - Parameters:
    ///   - target: Where the whole file is to be.
    ///   - url: Where it comes from, with secrets replaced.
    /// - Throws: ``ApiConnectorError`` of kind `.other` where the target cannot be written, or another download has it.
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

    /// Lets go of it, and of the lock; what is there is kept or removed.
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
        // Explicitly: a process that is being started holds a copy of the descriptor, and that copy would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// How much is there.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// From which byte on to ask for the rest of which version; nil to ask for the whole.
    ///
    /// At least the last byte is asked for again, so that a server can say that there is nothing else.
    var point: (offset: Int, record: DownloadRecord)? {
        state.withLock { state in
            guard let record = state.record else { return nil }
            let offset = min(state.byteCount, (record.totalByteCount ?? .max) - 1)
            return offset > 0 ? (offset, record) : nil
        }
    }

    /// Whether it can be gone on with.
    var isResumable: Bool { state.withLock { $0.record != nil } }

    /// Whether what was appended last has never been there before.
    var isAtFurthest: Bool { state.withLock { $0.isAtFurthest } }

    /// Begins again.
    ///
    /// - Parameter record: What it will be the beginning of; nil for something that cannot be resumed.
    func begin(_ record: DownloadRecord?) throws(ApiConnectorError) {
        state.withLock { state in
            state.record = nil
            state.byteCount = 0
            state.isKept = false
        }
        // In this order, and the first for good before the second, for old bytes must never stand beside a new record.
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

    /// Goes on at a byte that is there already.
    func goOn(at offset: Int) throws(ApiConnectorError) {
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw failure() }
        state.withLock { state in
            state.byteCount = offset
            state.furthest = max(state.furthest, offset)
        }
    }

    /// Writes the next bytes; the machine's page cache takes them, so this blocks no longer than a copy as a rule.
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

    /// Forgets what is there: it is not what it was taken for.
    func discard() {
        state.withLock { state in
            state.record = nil
            state.isKept = false
        }
    }

    /// Brings the whole file to the disk, and into its place.
    ///
    /// Waiting for the disk can take seconds, so no thread that tasks run on does it. A cancel does not end that wait:
    /// the file is whole, and is moved.
    ///
    /// - Parameter totalByteCount: How long it has to be; nil where nobody knows.
    /// - Throws: ``ApiConnectorError`` of kind `.connectionLost` for a file that is shorter.
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

    /// - Returns: The error's number; 0 for none.
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

    /// Opens a part and locks it.
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
            // Without one: the download that had it has moved or removed it in the meantime.
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
