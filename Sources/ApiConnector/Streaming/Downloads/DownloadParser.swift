// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
