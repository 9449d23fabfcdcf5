// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The file of a download until the download is complete.
///
/// It is next to its target, locked against other downloads, and accompanied by a record of the download.
///
/// The file is opened when the response arrives, so that a download that waits for its turn uses no descriptor. It is
/// closed when it is in its place, and while the download waits to be resumed.
///
/// Only one reader at a time uses it. If the download can be resumed, the bytes stay on the disk when this object is
/// released; otherwise they are removed.
final class PartFile: Sendable {
    private struct State {
        /// The file; nil until ``open()``, and after ``pause()`` or ``release()``.
        var file: DownloadFile?
        var record: DownloadRecord?
        var byteCount: Int
        /// The largest number of bytes so far, and whether the last write increased it.
        var furthest: Int
        var isAtFurthest = true
        /// Whether to keep the bytes for a later run.
        var isKept: Bool
        var isMoved = false
    }

    let target: URL
    /// Keeps the download's place among the transport's connections until the file is closed.
    let hold = FileHold()
    private let place: DownloadPlace
    private let url: String
    private let calls: FileCalls
    private let state: Locked<State>

    /// Checks the target, and reads what an earlier download to it has left.
    ///
    /// No descriptor is open when this returns.
    ///
    /// - Parameters:
    ///   - target: The location of the complete file.
    ///   - url: The URL for the record; see ``DownloadRecord/text(of:)``.
    /// - Throws: ``ApiConnectorError`` of kind `.other` if the target cannot be written, or if another download to it
    ///   is running.
    init(of target: URL, from url: String, calls: FileCalls = .system) throws(ApiConnectorError) {
        self.target = target
        self.url = url
        self.calls = calls
        place = try DownloadPlace(of: target)
        let file = try DownloadFile.locking(place, calls)
        let left = Self.state(of: file, from: url)
        if !left.isKept { file.remove() }
        file.close()
        state = Locked(left)
    }

    /// The state that an earlier download has left.
    private static func state(of file: DownloadFile, from url: String) -> State {
        let byteCount = file.byteCount
        var record = file.isLocked ? file.record : nil
        let isKept = record != nil && byteCount > 0
        if !isKept || record?.url != url || byteCount > record?.totalByteCount ?? .max { record = nil }
        return State(record: record, byteCount: record == nil ? 0 : byteCount, furthest: 0, isKept: isKept)
    }

    /// Opens and locks the file, unless it is open.
    ///
    /// - Returns: Whether ``point`` is still right: no other download has changed the file since it was last read.
    /// - Throws: ``ApiConnectorError`` of kind `.other` if another download to the target is running.
    func open() throws(ApiConnectorError) -> Bool {
        if state.withLock({ $0.file != nil }) { return true }
        let file = try DownloadFile.locking(place, calls)
        // Other users must not read the bytes of a file that they cannot read.
        file.copyPermissions(of: place.path, adding: 0o600)
        let found = Self.state(of: file, from: url)
        return state.withLock { state in
            let (isUnchanged, furthest) = (
                state.record == found.record && state.byteCount == found.byteCount, state.furthest
            )
            state = found
            (state.file, state.furthest) = (file, furthest)
            return isUnchanged
        }
    }

    deinit {
        release()
    }

    /// Closes the file, releases the lock, and keeps or removes the file.
    func release() {
        state.withLock { state in
            guard let file = state.file.take() else { return }
            if !state.isMoved {
                if !state.isKept || file.byteCount == 0 { file.remove() }
                file.removeRecordOfOtherPart(state.record)
            }
            file.close()
        }
        hold.end()
    }

    /// Closes the file until the download is resumed, so that a download that waits uses no descriptor.
    ///
    /// A file without a lock stays open, because ``open()`` would not find it again.
    func pause() {
        if state.withLock({ $0.file?.isLocked }) == false { hold.end() } else { release() }
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
    /// It flushes the removal of old bytes to the disk, and waits for that like ``finish(_:)``.
    ///
    /// - Parameter record: The record of the new download; nil if it cannot be resumed.
    func begin(_ record: DownloadRecord?) async throws(ApiConnectorError) {
        state.withLock { state in
            state.record = nil
            state.byteCount = 0
            state.isKept = false
        }
        let file = try openFile()
        let result: Result<Void, ApiConnectorError> = await blocking {
            Result { () throws(ApiConnectorError) in try self.clear(file, for: record) }
        }
        try result.get()
        state.withLock { state in
            state.record = record
            state.isKept = record != nil && file.isLocked
        }
    }

    /// Removes the old bytes and their record, and writes the new record.
    private func clear(_ file: DownloadFile, for record: DownloadRecord?) throws(ApiConnectorError) {
        // A record must never be next to the part of another download.
        guard file.isInPlace else { throw replaced(file) }
        // The order matters, and the truncation is flushed first: old bytes must never be next to a new record.
        if file.byteCount > 0 {
            guard ftruncate(file.descriptor, 0) == 0, FileCalls.synchronise(file.descriptor) == 0 else {
                throw failure()
            }
        }
        if file.isLocked { unlink(place.note) }
        // Without a lock, another download could use the file, so only this call resumes it.
        if let record, file.isLocked { try writeNote(record) }
    }

    /// Continues at an offset within the file.
    func goOn(at offset: Int) throws(ApiConnectorError) {
        guard ftruncate(try openFile().descriptor, off_t(offset)) == 0 else { throw failure() }
        state.withLock { state in
            state.byteCount = offset
            state.furthest = max(state.furthest, offset)
        }
    }

    /// Writes the next bytes; usually this only copies them to the system's page cache.
    func append(_ chunk: Data) throws(ApiConnectorError) {
        let file = try openFile()
        let start = byteCount
        guard chunk.count <= .max - start else { throw place.failure("it has more than \(Int.max) bytes") }
        let written = calls.write(chunk, to: file.descriptor, at: start)
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

    /// Flushes the complete file to the disk, moves it to its place, and closes it.
    ///
    /// Waiting for the disk can take seconds, so it does not run on a thread of Swift's task pool. A cancellation does
    /// not end that wait: the file is complete, and is moved.
    ///
    /// - Parameter totalByteCount: The expected length; nil if unknown.
    /// - Throws: ``ApiConnectorError`` of kind `.connectionLost` if the file is shorter; of kind `.other` if it cannot
    ///   be moved, or if its path leads to another file.
    func finish(_ totalByteCount: Int?) async throws(ApiConnectorError) {
        if let totalByteCount, byteCount < totalByteCount {
            throw ApiConnectorError(
                .connectionLost,
                at: .response,
                "the body ended after \(byteCount) of \(totalByteCount) bytes"
            )
        }
        let file = try openFile()
        if let failure = await blocking({ self.move(file) }) { throw failure }
        release()
    }

    /// - Returns: The failure; nil for success.
    private func move(_ file: DownloadFile) -> ApiConnectorError? {
        file.copyPermissions(of: place.path)
        guard FileCalls.synchronise(file.descriptor) == 0 else { return failure() }
        guard file.isInPlace else { return replaced(file) }
        guard rename(file.path, place.path) == 0 else { return failure() }
        state.withLock { $0.isMoved = true }
        if file.isLocked { unlink(place.note) }
        FileCalls.synchronise(folder: place.folder)
        return nil
    }

    private func writeNote(_ record: DownloadRecord) throws(ApiConnectorError) {
        guard let data = try? JSONEncoder().encode(record) else {
            throw place.failure("its record does not encode")
        }
        let descriptor = openNote(place.note)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let written = calls.write(data, to: descriptor, at: 0)
        if written.code != 0 { throw failure(written.code) }
    }

    private func openFile() throws(ApiConnectorError) -> DownloadFile {
        guard let file = state.withLock({ $0.file }) else { throw place.failure("the download is over") }
        return file
    }

    private func replaced(_ file: DownloadFile) -> ApiConnectorError {
        place.failure("its part file \(file.path) was moved, removed or replaced during the download")
    }

    private func failure(_ code: Int32 = errno) -> ApiConnectorError { place.failure(code: code) }
}

// The method `open` hides the function of the C library.
private func openNote(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
}

/// Describes the download of a part file; stored next to the file, so that a later run can resume it.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// The URL as ``text(of:)`` writes it.
    let url: String

    /// The strong validator of the version, for `If-Range`.
    let validator: String

    /// The length of the whole file; nil if the server does not announce it.
    let totalByteCount: Int?

    init(url: String, validator: String, totalByteCount: Int?) {
        self.url = url
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}

extension DownloadRecord {
    /// The text that tells whether two downloads are of the same URL, without secrets.
    ///
    /// A signature and its items are left out, because each call may have a new one. Any other secret, such as `key`,
    /// may name the file. It is replaced, and a checksum of the URL is added.
    static func text(of url: URL) -> String {
        let whole = withoutSignature(url.textWithoutDefaultPort)
        let shown = Redactor.standard.redact(urlText: whole)
        return shown == whole ? whole : "\(shown) \(checksum(of: whole))"
    }

    /// The names of a signature's items, and of an access token, as ``SecretNames/normalized(_:)`` writes them.
    private static let signatureNames: Set<String> = [
        "accesstoken", "awsaccesskeyid", "expires", "hdnea", "hdnts", "securitytoken", "sig", "signature",
    ]

    /// The items that change with a signature: the dates of Azure, and the policy of CloudFront.
    private static let signedNames: [String: [String]] = ["sig": ["se", "ske", "skt", "st"], "signature": ["policy"]]

    private static func withoutSignature(_ url: String) -> String {
        let end = url.firstIndex(of: "#") ?? url.endIndex
        guard let mark = url[..<end].firstIndex(of: "?") else { return url }
        let start = url.index(after: mark)
        let items = url[start..<end].split(separator: "&", omittingEmptySubsequences: false)
        let names = items.map { item in
            let name = item.prefix { $0 != "=" }
            return SecretNames.normalized(name.removingPercentEncoding ?? String(name))
        }
        var ignored = signatureNames
        for (signature, others) in signedNames where names.contains(signature) { ignored.formUnion(others) }
        let kept = zip(items, names).filter { item, name in
            !ignored.contains(name) && !name.hasPrefix("xamz") && !name.hasPrefix("xgoog")
        }
        .map { $0.0 }
        return "\(url[..<start])\(kept.joined(separator: "&"))\(url[end...])"
    }

    /// 16 bits: too few to find out a long secret, and enough to notice that a URL has another one.
    private static func checksum(of text: String) -> String {
        // FNV-1a, because the value must be the same in each process.
        let hash = text.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return String(hash >> 16 ^ hash & 0xFFFF, radix: 16)
    }
}
