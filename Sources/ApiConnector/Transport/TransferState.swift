// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides what a transfer does at each event; a value that does not call the transport and has no locks or tasks.
///
/// Both transports use it. The transport (for libcurl, the thread that has the loop's turn) reports what arrives; the
/// caller's side reads and cancels. The code that reports an event carries out the returned action. Every caller and
/// every reader gets exactly one result.
struct TransferState {
    enum Phase: Equatable {
        /// The final head has not arrived.
        case waiting
        /// The head has arrived, and the body is arriving.
        case receiving
        /// A streamed body has arrived completely, or has broken off, and was not read to its end.
        case received
        /// Everything was delivered; later events do not matter.
        case ended
    }

    /// The head of a response over libcurl.
    struct Head: Equatable, Sendable {
        var status = HTTPStatus(rawValue: 0)
        /// The fields in order, including repeated ones.
        var headers = HTTPHeaders()
        /// The content coding of the body; the first one, if there are several.
        var coding: ContentCoding?
        /// Whether a body without a length ends with the connection.
        var endsWithConnection = false
    }

    /// A head from libcurl, and the body if it was collected.
    struct Arrival: Equatable {
        var head: Head
        var body = Data()
    }

    /// Which continuation to resume, and with which result.
    enum Action {
        case nobody
        case caller(Result<Arrival, ApiConnectorError>)
        case reader(Result<Data?, ApiConnectorError>)
    }

    /// How body bytes were handled.
    enum Intake {
        case kept
        /// Kept. A reader waits, and gets the bytes together with all others that arrive at the same time.
        case awaited
        /// The window is full, and nothing was kept. libcurl keeps the bytes and pauses. URLSession, which cannot keep
        /// them, fails the call.
        case full
        /// The bytes are not wanted: the transport has to end the transfer.
        case refused
    }

    /// The result of a read.
    enum Reading {
        /// A chunk, and whether the transport has paused and has to be resumed.
        case chunk(Data, resumes: Bool)
        case waits
        case over(Result<Data?, ApiConnectorError>)
    }

    /// How many bytes of a body libcurl reads from the socket at once: 256 KiB for a streamed body, otherwise libcurl's
    /// default of 16 KiB.
    ///
    /// libcurl delivers the data of a read in pieces of 16 KiB. Larger reads need fewer system calls and wake the reader
    /// less often.
    static func readByteCount(of delivery: ResponseDelivery) -> Int {
        delivery == .streamed ? 256 * 1024 : pieceByteCount
    }

    private static let pieceByteCount = 16 * 1024

    /// The maximum length of a coded body whose decoded length is limited.
    ///
    /// It exceeds the limit, because coding makes incompressible data slightly longer.
    static func codedByteCount(upTo limit: Int) -> Int {
        let (count, isHuge) = limit.addingReportingOverflow(limit / 8 + 4096)
        return isHuge ? .max : count
    }

    private(set) var phase: Phase
    private let delivery: ResponseDelivery
    private let windowByteCount: Int
    private var head = Head()
    private var body = Data()
    private var isPaused = false
    private var hasReader = false
    private var failure: ApiConnectorError?
    /// Whether the body is decoded later, so that the limit does not apply to its length here.
    private var isCoded = false

    /// - Parameter phase: Receiving, if the head has arrived; waiting by default.
    init(delivery: ResponseDelivery, windowByteCount: Int, phase: Phase = .waiting) {
        self.phase = phase
        self.delivery = delivery
        self.windowByteCount = windowByteCount
    }

    /// Records that the final head is complete.
    ///
    /// - Parameter isDecodedLater: Whether the body is decoded after it has arrived.
    mutating func receive(_ head: Head, isDecodedLater: Bool = false) -> Action {
        guard phase == .waiting else { return .nobody }
        phase = .receiving
        isCoded = isDecodedLater
        guard delivery == .streamed else {
            self.head = head
            return .nobody
        }
        return .caller(.success(Arrival(head: head)))
    }

    /// Receives bytes of the body; never empty.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Intake {
        guard phase == .receiving, failure == nil else { return .refused }
        if case .collected(upTo: let limit) = delivery {
            guard bytes.count <= (isCoded ? Self.codedByteCount(upTo: limit) : limit) - body.count else {
                failure = .bodyTooLarge(limit: limit)
                return .refused
            }
            body.append(contentsOf: bytes)
            return .kept
        }
        guard body.isEmpty || bytes.count <= windowByteCount - body.count else {
            isPaused = true
            return .full
        }
        // A full piece is usually followed by others.
        if body.isEmpty, bytes.count >= Self.pieceByteCount {
            body.reserveCapacity(min(Self.readByteCount(of: .streamed), windowByteCount))
        }
        body.append(contentsOf: bytes)
        return hasReader ? .awaited : .kept
    }

    /// The data for a waiting reader; nil without a waiting reader or without data.
    mutating func handOver() -> Reading? {
        guard hasReader, !body.isEmpty else { return nil }
        hasReader = false
        return read()
    }

    /// Stores why libcurl is about to end the transfer; the first reason counts.
    mutating func refuse(_ reason: ApiConnectorError) {
        failure = failure ?? reason
    }

    /// Prepares for sending the request again.
    ///
    /// - Returns: False if the caller has a part of the response, or if the response was refused.
    mutating func restart() -> Bool {
        guard failure == nil, phase == .waiting || (phase == .receiving && delivery != .streamed) else { return false }
        phase = .waiting
        (head, body, isCoded) = (Head(), Data(), false)
        return true
    }

    /// Ends the transfer after libcurl has finished it, with an error if it failed.
    mutating func end(_ error: ApiConnectorError?) -> Action {
        let error = failure ?? error
        switch phase {
        case .waiting:
            phase = .ended
            let missing = ApiConnectorError(
                .connectionLost,
                "the connection was closed before the head of the response was complete"
            )
            return .caller(.failure(error ?? missing))
        case .receiving where delivery != .streamed:
            phase = .ended
            defer { body = Data() }
            return .caller(error.map { .failure($0) } ?? .success(Arrival(head: head, body: body)))
        case .receiving:
            failure = error
            isPaused = false
            guard hasReader else {
                phase = .received
                return .nobody
            }
            hasReader = false
            guard body.isEmpty else {
                phase = .received
                defer { body = Data() }
                return .reader(.success(body))
            }
            phase = .ended
            return .reader(error.map { .failure($0) } ?? .success(nil))
        case .received, .ended:
            return .nobody
        }
    }

    /// Ends the transfer because the caller, the reader or the provider has ended; unread data is discarded.
    mutating func cancel(_ error: ApiConnectorError) -> Action {
        let before = phase
        guard before != .ended else { return .nobody }
        phase = .ended
        failure = failure ?? error
        body = Data()
        isPaused = false
        if before == .waiting || delivery != .streamed { return .caller(.failure(error)) }
        guard hasReader else { return .nobody }
        hasReader = false
        return .reader(.failure(error))
    }

    /// Whether a reader gets a result without waiting.
    var isReadable: Bool { phase != .receiving || !body.isEmpty }

    /// Reads the next chunk of a streamed body; one read at a time.
    mutating func read() -> Reading {
        switch phase {
        case .waiting, .ended:
            return .over(failure.map { .failure($0) } ?? .success(nil))
        case .receiving where body.isEmpty:
            hasReader = true
            return .waits
        case .receiving:
            defer { (body, isPaused) = (Data(), false) }
            return .chunk(body, resumes: isPaused)
        case .received where body.isEmpty:
            phase = .ended
            return .over(failure.map { .failure($0) } ?? .success(nil))
        case .received:
            defer { body = Data() }
            return .chunk(body, resumes: false)
        }
    }
}
