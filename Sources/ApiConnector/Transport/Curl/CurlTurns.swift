// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// Counts the loop's turns, and stores the transfers that have used up their share of a turn; used only in a turn.
final class CurlTurns {
    /// How long a transfer pauses after its input has used much time for little or no data: 20 ms.
    ///
    /// This is three times as long as a turn spent on reading such input.
    static let delayMilliseconds = 20

    /// The number of the current turn.
    private(set) var number = 0
    /// The number of the current call of libcurl.
    private(set) var callNumber = 0
    private var paused: [CurlTransfer] = []
    /// The lanes of the responses over HTTP/2 that have begun.
    private var sharedLanes: Set<CurlWaitingLine<CurlTransfer>.Lane> = []
    private var sharedTurn = CurlSharedTurn()
    /// The delayed transfers, in the order of their times.
    private var delayed: [(transfer: CurlTransfer, due: Int)] = []

    /// Whether a transfer waits for the next turn.
    var isAwaited: Bool { !paused.isEmpty }

    /// When the next delayed transfer is resumed, in milliseconds of ``MonotonicTime``; nil for never.
    var nextDue: Int? { delayed.first?.due }

    func begin() {
        number &+= 1
        sharedTurn = CurlSharedTurn()
    }

    /// Counts a piece of a response over HTTP/2.
    ///
    /// - Parameter now: The time in milliseconds.
    /// - Returns: Whether the turn takes long and receives little.
    func countShared(_ byteCount: Int, now: Int) -> Bool {
        sharedTurn.count(byteCount, now: now)
    }

    /// Records that libcurl is about to be called.
    func beginCall() {
        callNumber &+= 1
    }

    /// Stores a paused transfer until the next turn.
    func pause(_ transfer: CurlTransfer) {
        paused.append(transfer)
    }

    /// Stores a paused transfer for ``delayMilliseconds``.
    func delay(_ transfer: CurlTransfer, now: Int) {
        delayed.append((transfer, now + Self.delayMilliseconds))
    }

    /// Records that a response over HTTP/2 has begun.
    ///
    /// The waiting calls start later, because libcurl accepts no new transfers while it calls a callback.
    func recordSharing(of transfer: CurlTransfer) {
        guard let lane = transfer.lane else { return }
        sharedLanes.insert(lane)
    }

    /// The lanes whose calls may share connections now.
    func takeSharedLanes() -> Set<CurlWaitingLine<CurlTransfer>.Lane> {
        guard !sharedLanes.isEmpty else { return [] }
        defer { sharedLanes = [] }
        return sharedLanes
    }

    /// The transfers to resume now.
    func takePaused(now: @autoclosure () -> Int) -> [CurlTransfer] {
        var taken: [CurlTransfer] = []
        swap(&taken, &paused)
        guard !delayed.isEmpty else { return taken }
        let now = now()
        let count = delayed.prefix { $0.due <= now }.count
        taken += delayed[..<count].map(\.transfer)
        delayed.removeFirst(count)
        return taken
    }
}

/// Counts the data of all responses over HTTP/2 in one turn.
///
/// Pausing a stream changes its window and can delay the other streams of its connection. So a response over HTTP/2 has
/// no share of each turn. It only pauses if the turn is slow. With frames of one byte, 100 reads take 50 ms and yield
/// 300 KB, and a healthy call next to them waited 1.7 s.
struct CurlSharedTurn {
    /// The minimum time of a slow turn, in milliseconds.
    static let minimumMilliseconds = 2
    /// The maximum number of bytes that a slow turn receives in that time: 32 KiB, which is 16 MB/s.
    ///
    /// Frames of one byte yield 14 KB.
    static let maximumByteCount = 32 << 10
    /// The size from which a piece always passes, because it is not part of an attack: 4 KiB.
    ///
    /// 32 KiB of frames of one byte make a piece of 3 KB.
    static let largePieceByteCount = 4 << 10

    private var start: Int?
    private var byteCount = 0

    /// Counts a piece.
    ///
    /// - Parameter now: The time in milliseconds.
    /// - Returns: Whether the turn is slow so far.
    mutating func count(_ byteCount: Int, now: Int) -> Bool {
        let start = start ?? now
        self.start = start
        self.byteCount += byteCount
        let elapsed = now - start
        return elapsed >= Self.minimumMilliseconds
            && self.byteCount < Self.maximumByteCount * elapsed / Self.minimumMilliseconds
    }
}

/// The share of one response over HTTP/1 in one turn.
///
/// libcurl reads as long as there is data. A server that sends as fast as libcurl reads would occupy the loop's thread:
/// a healthy call next to chunks of one byte waited 1.8 s.
struct CurlTurnShare {
    /// The maximum number of bytes of a collected body in one turn: 256 KiB; the window limits a streamed body.
    ///
    /// A healthy call takes two or three turns. With a maximum of 1 MiB, these turns take more than 2 ms on busy cores
    /// if another body arrives as fast as it is read.
    static let maximumByteCount = 256 << 10
    /// The maximum number of pieces of a body; a server can make them one byte long.
    static let maximumPieceCount = 1024
    /// The maximum number of rounds of up to 100 reads each; libcurl reports each round once or twice.
    static let maximumRoundCount = 4
    /// The maximum time of rounds without a piece of the body, in milliseconds.
    ///
    /// Such rounds read chunk extensions. A full round has 1.6 MB and takes about 3 ms. Short rounds, with an
    /// incomplete TLS record, take almost no time.
    static let maximumEmptyMilliseconds = 2

    /// The pause after a round.
    enum Pause: Equatable {
        case none
        case untilNextTurn
        /// Pauses for ``CurlTurns/delayMilliseconds``.
        ///
        /// Without this delay, a healthy call next to an endless chunk extension waited 0.8 s.
        case delay
    }

    private var turn = -1
    private var byteCount = 0
    private var pieceCount = 0
    private var roundCount = 0
    private var isRoundEmpty = true
    /// When the first round of the current series of rounds without a piece ended; nil without such a series.
    private var emptySince: Int?
    private var isPaused = false

    /// Whether a piece of a body is within the share; always true for the first piece of a turn.
    mutating func admits(_ count: Int, isStreamed: Bool, in turn: Int) -> Bool {
        enter(turn)
        guard pieceCount < Self.maximumPieceCount, isStreamed || byteCount < Self.maximumByteCount else { return false }
        pieceCount += 1
        byteCount += count
        isRoundEmpty = false
        return true
    }

    /// Ends a round of reads.
    ///
    /// - Parameter now: The time in milliseconds.
    /// - Returns: The pause; `.none` if an earlier round of the turn has already paused the transfer.
    mutating func finishRound(in turn: Int, now: @autoclosure () -> Int) -> Pause {
        enter(turn)
        defer { isRoundEmpty = true }
        guard !isPaused else { return .none }
        roundCount += 1
        if isRoundEmpty {
            let now = now()
            let start = emptySince ?? now
            emptySince = start
            isPaused = now - start >= Self.maximumEmptyMilliseconds
            if isPaused { return .delay }
        } else {
            emptySince = nil
        }
        isPaused = roundCount > Self.maximumRoundCount
        return isPaused ? .untilNextTurn : .none
    }

    private mutating func enter(_ turn: Int) {
        guard turn != self.turn else { return }
        self = CurlTurnShare()
        self.turn = turn
    }
}

/// Decides when libcurl has to look again at a response over HTTP/2 that has begun; does not call libcurl itself.
///
/// libcurl 7.88 does not notice two ends of a response by itself, and waits for the server's next bytes:
///
/// - It has found a violation of HTTP/2, and has sent GOAWAY.
/// - The response is complete, and the server has stopped reading the request's body, so that there is no room for more
///   of it.
///
/// So it looks again once, 20 ms after a round that brought no data.
///
/// If the response has its announced length, libcurl reads neither RST_STREAM nor WINDOW_UPDATE. So the library checks
/// every 20 ms whether libcurl still sends. If it does not, the transfer ends with the response, and the rest of the
/// request's body is not sent.
struct CurlNudge {
    /// The time without progress after which libcurl sends no more, in milliseconds: half a second.
    ///
    /// If other transfers read from the connection, there is more room for the body after a round trip.
    static let stallMilliseconds = 500

    /// The time of the next look; nil if there is none.
    private var due: Int?
    private var isRunning = false
    private var hasPiece = true
    /// The bytes of the request's body that were sent before the last look; nil before the first one.
    private var sentByteCount: Int64?
    private var progressTime = 0
    /// Whether the server's system has all of these bytes.
    ///
    /// Later bytes of the connection are those of other streams.
    private var isAcknowledged = false

    /// Whether there is a next look.
    var isAwaited: Bool { due != nil }

    /// Records a piece of the body.
    mutating func countPiece() {
        hasPiece = true
    }

    /// Ends a round of reads.
    ///
    /// - Parameters:
    ///   - hasLength: Whether the response has its announced length, but the request's body is not sent.
    ///   - isPaused: Whether the response is paused. Then libcurl looks when it goes on.
    ///   - now: The time in milliseconds.
    /// - Returns: Whether libcurl should look again after ``CurlTurns/delayMilliseconds``.
    mutating func finishRound(hasLength: Bool, isPaused: Bool, now: Int) -> Bool {
        defer { (isRunning, hasPiece) = (false, false) }
        guard hasLength || (!hasPiece && !isRunning), due == nil else { return false }
        due = isPaused ? now : now + CurlTurns.delayMilliseconds
        return !isPaused
    }

    /// Records a look at a response that has its announced length.
    ///
    /// - Parameters:
    ///   - sentByteCount: The bytes of the request's body that were sent so far.
    ///   - isSending: Whether the system still sends bytes of the connection, as on a slow line.
    ///   - now: The time in milliseconds.
    /// - Returns: Whether neither libcurl nor the system has sent anything of the body for ``stallMilliseconds``.
    mutating func hasStalled(_ sentByteCount: Int64, isSending: Bool, now: Int) -> Bool {
        if sentByteCount != self.sentByteCount {
            (self.sentByteCount, progressTime, isAcknowledged) = (sentByteCount, now, false)
        } else if !isSending {
            isAcknowledged = true
        } else if !isAcknowledged {
            progressTime = now
        }
        return now - progressTime >= Self.stallMilliseconds
    }

    /// Begins to look again, if that is due.
    mutating func begin(now: Int) -> Bool {
        guard let due, due <= now else { return false }
        (self.due, isRunning) = (nil, true)
        return true
    }
}

#endif
