// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A file that was downloaded completely.
public struct DownloadedFile: Sendable, Hashable {
    /// The location of the file.
    public let file: URL

    /// The length of the file in bytes.
    public let byteCount: Int

    /// The head of the last response; its status is 206 if the download was resumed.
    public let head: ResponseHead

    /// Makes a value, for example for a test.
    public init(file: URL, byteCount: Int, head: ResponseHead) {
        self.file = file
        self.byteCount = byteCount
        self.head = head
    }
}

/// An event of a download: the progress, and finally the file.
public enum DownloadEvent: Sendable, Hashable {
    /// More bytes are in the part file.
    ///
    /// The count starts with the bytes of an earlier run. It returns to 0 if the server now has another version.
    case progress(TransferProgress)

    /// The file is complete and in its place; the last element.
    case finished(DownloadedFile)
}

extension ResponseStream<DownloadEvent> {
    /// Downloads to the end and returns the file.
    ///
    /// Canceling the task ends the download immediately with kind `.cancelled`.
    @concurrent
    public func file() async throws(ApiConnectorError) -> DownloadedFile {
        for try await event in self {
            if case .finished(let file) = event { return file }
        }
        throw ApiConnectorError(.cancelled, at: .response, "the download ended before its file was complete")
    }
}

/// Writes a body's chunks to a file as they are read.
///
/// A slow disk therefore slows the server down, and nothing is buffered. The stream moves the complete file to its
/// place before it calls ``end()``.
struct DownloadParser: ElementParser {
    private let file: PartFile
    private let head: ResponseHead
    private let totalByteCount: Int?
    private let timeSource: any TimeSource
    private var rate: TransferRate
    private var chunk: Data?
    private var isAtEnd = false
    private(set) var isOver = false

    /// Makes a parser that appends a response's body to the file.
    ///
    /// The file already contains the bytes of the download that come before this body. It is empty if the response
    /// contains the whole file.
    init(_ file: PartFile, _ head: ResponseHead, totalByteCount: Int?, timeSource: any TimeSource) {
        self.file = file
        self.head = head
        self.totalByteCount = totalByteCount
        self.timeSource = timeSource
        rate = TransferRate(from: file.byteCount, at: timeSource.now)
    }

    var resumePoint: ResumePoint? { file.isResumable ? ResumePoint(lastEventID: "") : nil }

    var isAdvancing: Bool { file.isAtFurthest }

    mutating func append(_ chunk: Data) {
        self.chunk = chunk
    }

    mutating func end() {
        isAtEnd = true
    }

    mutating func read(_ batch: inout [DownloadEvent], upTo count: Int) throws(ApiConnectorError) {
        if let chunk = chunk.take() {
            try write(chunk)
            batch.append(.progress(progress()))
        } else if isAtEnd, !isOver {
            isOver = true
            batch.append(.finished(DownloadedFile(file: file.target, byteCount: file.byteCount, head: head)))
        }
    }

    private func write(_ chunk: Data) throws(ApiConnectorError) {
        if let totalByteCount, chunk.count > totalByteCount - file.byteCount {
            file.discard()
            throw ApiConnectorError(
                .malformedResponse,
                at: .response,
                "the body is longer than the \(totalByteCount) bytes that the server announced"
            )
        }
        try file.append(chunk)
    }

    private mutating func progress() -> TransferProgress {
        let byteCount = file.byteCount
        return TransferProgress(
            byteCount: byteCount,
            totalByteCount: totalByteCount,
            bytesPerSecond: rate.record(byteCount, at: timeSource.now)
        )
    }
}
