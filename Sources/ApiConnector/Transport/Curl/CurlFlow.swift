// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Decides when one transfer pauses, so that it does not occupy the loop's thread; does not call libcurl itself.
struct CurlFlow {
    /// How the response shares the loop's thread with others.
    private enum Sharing {
        /// The head has not arrived.
        case unknown
        /// Over HTTP/1, the response has a share of each turn.
        case turnShare
        /// Over HTTP/2, the response shares its connection, and pauses only in a slow turn.
        case connection
    }

    /// The pause after a piece of the body or a round of reads.
    typealias Pause = CurlTurnShare.Pause

    /// Whether libcurl has paused receiving.
    private(set) var isReceivePaused = false
    /// Whether libcurl has paused the request's body, because its source has no bytes yet.
    private(set) var isSendPaused = false
    /// Whether the transfer was last resumed to look again.
    private(set) var isLooking = false
    private var sharing = Sharing.unknown
    private var turnShare = CurlTurnShare()
    private var recheck = CurlRecheck()
    /// The last turn that received a piece of the body.
    private var lastPieceTurn = -1

    /// Whether the response uses HTTP/1, so that it has a share of each turn.
    var hasTurnShare: Bool { sharing == .turnShare }

    /// Whether the response uses HTTP/2, so that it shares its connection.
    var isShared: Bool { sharing == .connection }

    /// Records that the head of the response is complete.
    mutating func begin(isHTTP1: Bool) {
        sharing = isHTTP1 ? .turnShare : .connection
    }

    /// Counts a piece of the body, and decides whether it is received in this turn; the first piece of a turn always is.
    ///
    /// - Parameter isTurnSlow: Whether the turn takes long and receives little; only for a response over HTTP/2.
    mutating func admit(_ byteCount: Int, isStreamed: Bool, in turn: Int, isTurnSlow: @autoclosure () -> Bool) -> Pause
    {
        recheck.countPiece()
        switch sharing {
        case .unknown: return .none
        case .turnShare:
            return turnShare.admits(byteCount, isStreamed: isStreamed, in: turn) ? .none : .untilNextTurn
        case .connection:
            defer { lastPieceTurn = turn }
            let mayPass = byteCount >= CurlSharedTurn.largePieceByteCount || lastPieceTurn != turn
            return !isTurnSlow() || mayPass ? .none : .delay
        }
    }

    /// Ends a round of reads of a response over HTTP/2, or of a response that libcurl may hold back.
    ///
    /// - Parameter hasLength: Whether the response has its announced length, but the request's body is not sent.
    /// - Returns: Whether libcurl should look again after ``CurlTurns/delayMilliseconds``.
    mutating func finishSharedRound(hasLength: Bool, now: Int) -> Bool {
        recheck.finishRound(hasLength: hasLength, isPaused: isReceivePaused, now: now)
    }

    /// Ends a round of reads.
    mutating func finishRound(in turn: Int, now: @autoclosure () -> Int) -> Pause {
        hasTurnShare ? turnShare.finishRound(in: turn, now: now()) : .none
    }

    /// Records that libcurl pauses receiving, or goes on.
    mutating func pauseReceiving(_ isPaused: Bool) {
        isReceivePaused = isPaused
    }

    /// Records that libcurl pauses the request's body.
    mutating func pauseSending() {
        isSendPaused = true
    }

    /// Records that libcurl goes on.
    ///
    /// - Returns: Whether it is resumed to look again.
    mutating func resume(now: @autoclosure () -> Int) -> Bool {
        isReceivePaused = false
        isSendPaused = false
        isLooking = recheck.isAwaited && recheck.begin(now: now())
        return isLooking
    }

    /// Records a look at a response that has its announced length.
    ///
    /// - Returns: Whether nothing more of the request's body can be sent; see ``CurlRecheck/hasStalled(_:isSending:now:)``.
    mutating func hasStalled(_ sentByteCount: Int64, isSending: Bool, now: Int) -> Bool {
        recheck.hasStalled(sentByteCount, isSending: isSending, now: now)
    }

    /// Prepares for sending the request again.
    mutating func restart() {
        isReceivePaused = false
        isSendPaused = false
        recheck = CurlRecheck()
    }
}

// MARK: Calls of libcurl

extension CurlHandle {
    func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard let transfer else { return Self.abort }
        guard !bytes.isEmpty else { return 0 }
        deliverHead(of: transfer)
        let pause = flow.admit(
            bytes.count,
            isStreamed: transfer.request.delivery == .streamed,
            in: turns.number,
            isTurnSlow: turns.countShared(bytes.count, now: MonotonicTime.milliseconds)
        )
        guard !begin(pause, of: transfer) else { return CCURL_WRITEFUNC_PAUSE }
        let intake = transfer.receive(bytes)
        switch intake {
        case .kept, .awaited:
            openSockets.countDelivered(bytes.count)
            if intake == .awaited { turns.deliver(transfer) }
            return bytes.count
        case .full:
            recordPause(true)
            return CCURL_WRITEFUNC_PAUSE
        case .refused: return Self.abort
        }
    }

    /// Makes the loop resume the transfer after a pause.
    ///
    /// - Returns: Whether there is a pause.
    private func begin(_ pause: CurlFlow.Pause, of transfer: CurlTransfer) -> Bool {
        switch pause {
        case .none: return false
        case .untilNextTurn: turns.pause(transfer)
        case .delay: turns.delay(transfer, now: MonotonicTime.milliseconds)
        }
        recordPause(true)
        return true
    }

    /// Records that libcurl is about to pause or to resume the response.
    private func recordPause(_ isPaused: Bool) {
        flow.pauseReceiving(isPaused)
        guard CurlRuntime.readsWhilePaused, flow.hasTurnShare, let connection = connecting.connection else { return }
        sockets.pauseReading(connection, isPaused)
    }

    /// Called after libcurl has read up to 100 times.
    func finishRound() {
        guard let transfer else { return }
        if flow.isShared || mayHoldHeadBack {
            let now = MonotonicTime.milliseconds
            if flow.finishSharedRound(hasLength: isAnsweredInFull, now: now) { turns.delay(transfer, now: now) }
        }
        if begin(flow.finishRound(in: turns.number, now: MonotonicTime.milliseconds), of: transfer) {
            curl_easy_pause(easy.pointer, Int32(CCURL_PAUSE_RECV))
        }
    }

    /// Whether libcurl may have a head over HTTP/2 that it does not read.
    private var mayHoldHeadBack: Bool {
        CurlRuntime.readsNothingWhileSendIsPaused && flow.isSendPaused && !head.isComplete
            && connecting.connection.map { sockets.isSequential($0) != true } ?? false
    }

    /// Whether the response over HTTP/2 has its announced length, and libcurl still sends the request's body.
    ///
    /// libcurl then reads neither RST_STREAM nor WINDOW_UPDATE. A body whose source has no bytes now is not judged.
    private var isAnsweredInFull: Bool {
        guard CurlRuntime.stopsReadingAtLength, flow.isShared, !isBodySent, !flow.isReceivePaused, head.isComplete,
            transfer?.upload?.isStarved != true, let announcedByteCount, announcedByteCount > 0
        else { return false }
        return announcedByteCount == easy.byteCount(CCURLINFO_SIZE_DOWNLOAD_T)
    }

    /// Resumes after a pause.
    ///
    /// libcurl immediately delivers the data that it has buffered.
    ///
    /// - Returns: libcurl's code. If it is not 0, the transfer has ended, and libcurl does not report it anywhere else.
    func resume() -> Int32 {
        recordPause(false)
        if flow.resume(now: MonotonicTime.milliseconds) { curl_easy_pause(easy.pointer, Int32(CCURL_PAUSE_SEND)) }
        return curl_easy_pause(easy.pointer, 0)
    }

    /// Prepares for sending the request again.
    func restartFlow() {
        recordPause(false)
        flow.restart()
    }

    /// Whether the transfer that was just resumed has its whole response, and can send no more of the request's body.
    func isStuck() -> Bool {
        flow.isLooking && isAnsweredInFull
            && flow.hasStalled(
                easy.byteCount(CCURLINFO_SIZE_UPLOAD_T) ?? 0,
                isSending: connecting.connection.map { sockets.hasUnacknowledgedBytes($0) } ?? false,
                now: MonotonicTime.milliseconds
            )
    }

    /// Supplies a part of the request's body to libcurl.
    func supply(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch transfer?.upload?.supply(buffer) {
        case .copied(let count):
            transfer?.reportSent()
            return count
        case .pause:
            flow.pauseSending()
            return CCURL_READFUNC_PAUSE
        case .end:
            transfer?.note { $0.isSending = false }
            return 0
        case .fail, nil: return CCURL_READFUNC_ABORT
        }
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
struct CurlRecheck {
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
