// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a transfer does about every event: a value without libcurl, lock or task in it.
///
/// The thread that has the loop's turn reports what arrives, the caller's side reads and cancels. The reporter of an
/// event carries out what it returns. Every caller and every reader is answered exactly once.
struct TransferState {
    enum Phase: Equatable {
        /// No final head yet.
        case waiting
        /// The head is there, the body on its way.
        case receiving
        /// A streamed body has arrived as a whole, or broken off, and is not read to its end.
        case received
        /// Everything was handed over; nothing that still happens matters.
        case ended
    }

    /// A head as libcurl delivered it, and the body where it was collected.
    struct Arrival: Equatable {
        var head: [UInt8]
        var body = Data()
    }

    /// Whom to answer, and with what.
    enum Answer {
        case nobody
        case caller(Result<Arrival, ApiConnectorError>)
        case reader(Result<Data?, ApiConnectorError>)
    }

    /// What becomes of body bytes.
    enum Intake {
        case kept
        /// Kept, and a reader waits: it is to be handed over once no more comes at the same moment.
        case awaited
        /// The window is full: libcurl is to keep them and to pause.
        case full
        /// Nobody wants them: libcurl is to end the transfer.
        case refused
    }

    /// What a reader gets.
    enum Reading {
        /// A chunk, and whether libcurl pauses and has to be told to go on.
        case chunk(Data, resumes: Bool)
        case waits
        case over(Result<Data?, ApiConnectorError>)
    }

    /// How much of a body is taken from the socket at once: 256 KiB of a streamed one, else libcurl's 16 KiB.
    ///
    /// libcurl reads once a turn and hands that over in pieces of 16 KiB. Each turn costs a call of the kernel and
    /// wakes the reader.
    static func readByteCount(of delivery: ResponseDelivery) -> Int {
        delivery == .streamed ? 256 * 1024 : pieceByteCount
    }

    private static let pieceByteCount = 16 * 1024

    /// How long a coded body may be whose decoded length is limited: what cannot be compressed grows by a little.
    static func codedByteCount(upTo limit: Int) -> Int {
        let (count, isHuge) = limit.addingReportingOverflow(limit / 8 + 4096)
        return isHuge ? .max : count
    }

    private(set) var phase = Phase.waiting
    private let delivery: ResponseDelivery
    private let windowByteCount: Int
    private var head: [UInt8] = []
    private var body = Data()
    private var isPaused = false
    private var hasReader = false
    private var failure: ApiConnectorError?
    /// Whether the body is decoded later, so that its length here is not the one that is limited.
    private var isCoded = false

    init(delivery: ResponseDelivery, windowByteCount: Int) {
        self.delivery = delivery
        self.windowByteCount = windowByteCount
    }

    /// The final head is complete.
    ///
    /// - Parameter isCoded: Whether the body is decoded after it has arrived.
    mutating func receive(head: [UInt8], isCoded: Bool = false) -> Answer {
        guard phase == .waiting else { return .nobody }
        phase = .receiving
        self.isCoded = isCoded
        guard delivery == .streamed else {
            self.head = head
            return .nobody
        }
        return .caller(.success(Arrival(head: head)))
    }

    /// Bytes of the body have arrived; never none.
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
        // A full piece is rarely the only one.
        if body.isEmpty, bytes.count >= Self.pieceByteCount {
            body.reserveCapacity(min(Self.readByteCount(of: .streamed), windowByteCount))
        }
        body.append(contentsOf: bytes)
        return hasReader ? .awaited : .kept
    }

    /// What has arrived, for the reader who waits; nil where nobody waits, or nothing came.
    mutating func handOver() -> Reading? {
        guard hasReader, !body.isEmpty else { return nil }
        hasReader = false
        return read()
    }

    /// Remembers why libcurl is about to be told to end the transfer; the first reason counts.
    mutating func refuse(_ reason: ApiConnectorError) {
        failure = failure ?? reason
    }

    /// The request is about to be sent again.
    ///
    /// - Returns: False where the caller has some of the response, or the response was refused.
    mutating func restart() -> Bool {
        guard failure == nil, phase == .waiting || (phase == .receiving && delivery != .streamed) else { return false }
        phase = .waiting
        (head, body, isCoded) = ([], Data(), false)
        return true
    }

    /// Libcurl is done with the transfer; with an error unless all went well.
    mutating func end(_ error: ApiConnectorError?) -> Answer {
        let error = failure ?? error
        switch phase {
        case .waiting:
            phase = .ended
            let missing = ApiConnectorError(
                .connectionLost,
                "the connection was closed before the head of the response was whole"
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

    /// The caller or the reader has gone, or the provider has ended; what has not been read is thrown away.
    mutating func cancel(_ error: ApiConnectorError) -> Answer {
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

    /// Whether a reader gets something without waiting.
    var isReadable: Bool { phase != .receiving || !body.isEmpty }

    /// A reader asks for the next chunk of a streamed body; one at a time.
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
