// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RequestBody {
    /// A file, which each attempt reads in chunks of 64 KiB; its media type is `application/octet-stream` by default.
    ///
    /// A file that cannot be read fails the call with kind `.encodingFailed`, if possible before anything is sent.
    ///
    /// A file whose length changes before it is sent fails the call with the same kind.
    ///
    /// A named pipe, a device and a file of `/proc` have no length before they are read. They are sent like a
    /// ``stream(byteCount:mediaType:isReplayable:_:)`` without a `byteCount`. A pipe and a device can be read only once.
    public static func file(_ file: URL, mediaType: MediaType = .octetStream) -> RequestBody {
        let chunks = FileChunks(file: file)
        let source = RequestBodySource(
            byteCount: chunks.byteCount,
            isReplayable: !chunks.isConsumed,
            file: file,
            check: { () throws(ApiConnectorError) in try chunks.check() },
            run: { deliver in
                for try await chunk in chunks { try await deliver(chunk) }
            }
        )
        return RequestBody(source: source, mediaType: mediaType)
    }

    /// Chunks from an asynchronous source, pulled only as fast as the server accepts them.
    ///
    /// ```swift
    /// body = .stream(byteCount: nil) { recorder.chunks() }
    /// ```
    ///
    /// The call fails with kind `.encodingFailed` if the source throws an error other than an ``ApiConnectorError``, or
    /// if its length differs from `byteCount`. The last of the announced bytes are sent when the source has ended.
    ///
    /// - Parameters:
    ///   - byteCount: The length in bytes; nil, the default, if it is unknown. Over HTTP/1.1, such a body uses chunked
    ///     coding.
    ///   - mediaType: The media type; `application/octet-stream` by default.
    ///   - isReplayable: Whether the source can be created again; true by default.
    ///   - makeChunks: Creates the source; called again for each attempt.
    public static func stream<Chunks: AsyncSequence & SendableMetatype>(
        byteCount: Int? = nil,
        mediaType: MediaType = .octetStream,
        isReplayable: Bool = true,
        _ makeChunks: @escaping @Sendable () async throws -> Chunks
    ) -> RequestBody where Chunks.Element == Data, Chunks.AsyncIterator: SendableMetatype {
        let source = RequestBodySource(byteCount: byteCount, isReplayable: isReplayable) { deliver in
            for try await chunk in try await makeChunks() { try await deliver(chunk) }
        }
        return RequestBody(source: source, mediaType: mediaType)
    }

    /// Whether the bytes come from a file or a source rather than from memory.
    public var isStreamed: Bool { source != nil }

    /// Sends the body chunk by chunk to a closure; your own transport calls it.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.notReplayable` if the source was already consumed, and of kind
    ///   `.encodingFailed` if the source fails. An error of `deliver` is thrown unchanged.
    public func send(
        to deliver: (Data) async throws(ApiConnectorError) -> Void
    ) async throws(ApiConnectorError) {
        guard let source else {
            let data = try data()
            if !data.isEmpty { try await deliver(data) }
            return
        }
        try await source.send(to: deliver)
    }

    /// Reads the whole body into memory.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.bodyTooLarge`, or an error of ``send(to:)``.
    public func collect(upTo maximumByteCount: Int) async throws(ApiConnectorError) -> Data {
        try await collect(upTo: maximumByteCount) {}
    }

    /// - Parameter reportProgress: Called for each chunk.
    func collect(
        upTo maximumByteCount: Int,
        reportProgress: () -> Void
    ) async throws(ApiConnectorError) -> Data {
        var body = Data()
        try await send { (chunk) throws(ApiConnectorError) in
            reportProgress()
            guard chunk.count <= maximumByteCount - body.count else {
                throw ApiConnectorError(
                    .bodyTooLarge,
                    at: .request,
                    "the request's body is longer than the limit of \(maximumByteCount) bytes"
                )
            }
            body.append(chunk)
        }
        return body
    }
}

/// A body that is generated while it is sent.
final class RequestBodySource: Sendable {
    typealias Deliver = (Data) async throws -> Void

    let byteCount: Int?
    let isReplayable: Bool
    /// The file that contains all the bytes; nil for another source.
    let file: URL?
    private let preflight: @Sendable () throws(ApiConnectorError) -> Void
    private let run: @Sendable (Deliver) async throws -> Void
    private let isUsed = Locked(false)

    init(
        byteCount: Int?,
        isReplayable: Bool,
        file: URL? = nil,
        check: @escaping @Sendable () throws(ApiConnectorError) -> Void = { () throws(ApiConnectorError) in },
        run: @escaping @Sendable (Deliver) async throws -> Void
    ) {
        self.byteCount = byteCount
        self.isReplayable = isReplayable
        self.file = file
        self.preflight = check
        self.run = run
    }

    /// Checks, before anything is sent, whether the source can be read.
    func check() throws(ApiConnectorError) {
        try preflight()
    }

    /// Creates the source and delivers its chunks.
    ///
    /// It skips empty chunks and checks the length.
    func send(to deliver: (Data) async throws(ApiConnectorError) -> Void) async throws(ApiConnectorError) {
        let wasUsed = isUsed.withLock { isUsed in
            defer { isUsed = true }
            return isUsed
        }
        guard isReplayable || !wasUsed else {
            throw ApiConnectorError(
                .notReplayable,
                at: .request,
                "an earlier attempt has already consumed the body's source"
            )
        }
        var sentByteCount: Int64 = 0
        // The last announced bytes are delivered after the source has ended. Otherwise, the server could process the
        // body before the source turns out to have more.
        var last: Data?
        do {
            try await run { chunk in
                try Task.checkCancellation()
                guard !chunk.isEmpty else { return }
                sentByteCount += Int64(chunk.count)
                let announced = byteCount.map { Int64($0) } ?? .max
                guard sentByteCount <= announced else { throw self.wrongLength("more") }
                if sentByteCount == announced { last = chunk } else { try await deliver(chunk) }
            }
            if let last { try await deliver(last) }
        } catch let error as ApiConnectorError {
            throw error
        } catch is CancellationError {
            throw ApiConnectorError(.cancelled, at: .request, "the call was canceled")
        } catch {
            let reason = ApiConnectorError.sentence(String(describing: error))
            throw ApiConnectorError(
                .encodingFailed,
                at: .request,
                "the body's source failed: \(reason)",
                underlying: error
            )
        }
        guard sentByteCount == byteCount.map({ Int64($0) }) ?? sentByteCount else {
            throw wrongLength("only \(sentByteCount)")
        }
    }

    private func wrongLength(_ found: String) -> ApiConnectorError {
        let said = byteCount ?? 0
        return ApiConnectorError(
            .encodingFailed,
            at: .request,
            "the body's source announced \(said) bytes, but has \(found)"
        )
    }
}

/// The bytes of a file in chunks of 64 KiB.
struct FileChunks: AsyncSequence {
    let file: URL

    /// The current length; nil if there is no such file, if it has no length before it is read, or if an `Int` cannot
    /// hold its length.
    ///
    /// `fileSizeKey` is not used, because a `URL` may cache an earlier length, and for a symbolic link it is the length
    /// of the link.
    var byteCount: Int? {
        guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let descriptor = open(file.path(percentEncoded: false), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        // A process with a lease on the file may write to it before it gives the lease back.
        if descriptor < 0, errno == EWOULDBLOCK { return nil }
        defer { if descriptor >= 0 { close(descriptor) } }
        var byte: UInt8 = 0
        // Files of /proc claim to be empty.
        if status.st_size == 0, read(descriptor, &byte, 1) > 0 { return nil }
        return Int(exactly: status.st_size)
    }

    /// Whether reading the file takes its bytes away, as with a named pipe, a terminal or another device.
    var isConsumed: Bool {
        guard let mode = status?.st_mode else { return false }
        return mode & S_IFMT != S_IFREG && mode & S_IFMT != S_IFDIR
    }

    private var status: stat? {
        var status = stat()
        return file.isFileURL && stat(file.path(percentEncoded: false), &status) == 0 ? status : nil
    }

    /// Throws an error if the file cannot be read.
    func check() throws(ApiConnectorError) {
        let path = file.path(percentEncoded: false)
        var status = stat()
        let reason: String
        if !file.isFileURL {
            reason = "it is not a file URL"
        } else if stat(path, &status) != 0 || access(path, R_OK) != 0 {
            reason = String(cString: strerror(errno))
        } else if status.st_mode & S_IFMT == S_IFDIR {
            reason = "it is a directory"
        } else {
            return
        }
        throw ApiConnectorError(.encodingFailed, at: .request, "the file \(path) cannot be read: \(reason)")
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: file, mayBlock: isConsumed) }

    struct Iterator: AsyncIteratorProtocol {
        let file: URL
        /// Whether reading the file may wait for another process.
        let mayBlock: Bool
        private var handle: FileHandle?

        init(file: URL, mayBlock: Bool) {
            self.file = file
            self.mayBlock = mayBlock
        }

        mutating func next() async throws -> Data? {
            let handle = if let handle { handle } else { try await Self.open(file) }
            self.handle = handle
            guard mayBlock else {
                guard let chunk = try handle.read(upToCount: Self.chunkByteCount), !chunk.isEmpty else { return nil }
                return chunk
            }
            let chunk = try await Self.cancelable { isCanceled in
                try Self.available(handle.fileDescriptor, unless: isCanceled)
            }
            return chunk.isEmpty ? nil : chunk
        }

        private static let chunkByteCount = 64 * 1024

        /// Calls a blocking function on its own thread.
        ///
        /// The function must return when the task is canceled.
        private static func cancelable<Value: Sendable>(
            _ body: @escaping @Sendable (_ isCanceled: () -> Bool) throws -> Value
        ) async throws -> Value {
            let isCanceled = Locked(false)
            return try await withTaskCancellationHandler {
                try await blocking { Result { try body { isCanceled.withLock { $0 } } } }.get()
            } onCancel: {
                isCanceled.withLock { $0 = true }
            }
        }

        /// Opens the file without blocking a thread.
        ///
        /// It does not wait for the writer of a pipe. If another process has a lease on the file, it tries again until
        /// the process or the system has ended the lease. On Linux, the system ends a lease after 45 seconds.
        private static func open(_ file: URL) async throws -> FileHandle {
            if let handle = try openNow(file) { return handle }
            return try await cancelable { isCanceled in
                while !isCanceled() {
                    poll(nil, 0, 100)
                    if let handle = try openNow(file) { return handle }
                }
                throw CancellationError()
            }
        }

        /// Opens the file; nil if another process has a lease on it.
        private static func openNow(_ file: URL) throws -> FileHandle? {
            let descriptor = Foundation.open(file.path(percentEncoded: false), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
            let code = errno
            guard code == EWOULDBLOCK else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
            return nil
        }

        /// Waits for bytes, and returns those that have arrived; none at the end.
        ///
        /// `FileHandle.read(upToCount:)` would wait until it has all bytes of a chunk, and no cancellation would end the
        /// wait.
        private static func available(_ descriptor: Int32, unless isCanceled: () -> Bool) throws -> Data {
            var chunk = Data(count: chunkByteCount)
            while !isCanceled() {
                // A pipe whose writer has not come yet reports nothing, and reading it would report its end.
                var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&question, 1, 100) != 0 else { continue }
                let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 { return chunk.prefix(count) }
                guard errno == EINTR || errno == EAGAIN else {
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
            }
            throw CancellationError()
        }
    }
}
