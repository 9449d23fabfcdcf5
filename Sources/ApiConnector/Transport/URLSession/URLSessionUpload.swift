// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if !canImport(FoundationNetworking)
/// Sends chunks through a bound pair of streams, as fast as the session reads the other end.
///
/// Unchecked, because the mutable state and the output stream are only used on `queue`.
final class URLSessionUpload: NSObject, StreamDelegate, @unchecked Sendable {
    /// The capacity of the pair: 64 KiB.
    private static let bufferByteCount = 64 * 1024

    private let output: OutputStream
    private let queue = DispatchQueue(label: "URLSessionUpload")
    private var rest = Data()
    private var writer: CheckedContinuation<Bool, Never>?
    private var isOver = false

    /// Makes a pair of streams.
    ///
    /// - Returns: The writer, and the stream that the session reads; nil if the system has no streams.
    static func makePair() -> (upload: URLSessionUpload, input: InputStream)? {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: bufferByteCount, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        return (URLSessionUpload(output), input)
    }

    private init(_ output: OutputStream) {
        self.output = output
        super.init()
        output.delegate = self
        CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
        output.open()
    }

    /// Writes a chunk, and returns when the pair has accepted all of it.
    ///
    /// Only one call at a time is allowed. Canceling the task does not close the stream, because its end would look
    /// like the end of the body.
    ///
    /// - Returns: False if the session has closed its end, or if the task was canceled.
    func write(_ chunk: Data) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    (rest, writer) = (chunk, continuation)
                    goOn()
                }
            }
        } onCancel: {
            queue.async { [self] in
                isOver = true
                goOn()
            }
        }
    }

    /// Ends the body, which is complete or no longer read by the session.
    ///
    /// The queued block retains this object, the stream's delegate, until the stream no longer refers to it.
    func close() {
        queue.async { [self] in end() }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasSpaceAvailable: goOn()
        case .errorOccurred, .endEncountered: end()
        default: break
        }
    }

    private func goOn() {
        while !isOver, !rest.isEmpty, output.hasSpaceAvailable {
            let count = rest.withUnsafeBytes { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
            }
            guard count > 0 else { return end() }
            rest = rest.dropFirst(count)
        }
        if isOver {
            answer(false)
        } else if rest.isEmpty {
            answer(true)
        }
    }

    private func end() {
        isOver = true
        // The stream does not own its delegate.
        output.delegate = nil
        output.close()
        answer(false)
    }

    private func answer(_ isWritten: Bool) {
        writer.take()?.resume(returning: isWritten)
    }
}

extension URLSessionExchange {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        guard let (upload, input) = URLSessionUpload.makePair() else { return completionHandler(nil) }
        let writer = Task { [self] in
            var isTaken = true
            do throws(ApiConnectorError) {
                try await request.body.send { (chunk) throws(ApiConnectorError) in
                    isTaken = await upload.write(chunk)
                    guard isTaken else { throw ApiConnectorError(.cancelled, "URLSession has closed the upload") }
                }
                upload.close()
            } catch {
                // If the session has ended the upload, its own error or response has more information.
                if isTaken, !Task.isCancelled { stop(error.completed(request: request)) }
            }
        }
        let isKept = keepUpload(writer) { upload.close() }
        completionHandler(isKept ? input : nil)
    }
}
#endif
