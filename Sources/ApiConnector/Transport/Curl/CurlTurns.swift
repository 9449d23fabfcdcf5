// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// Counts the loop's turns, and keeps the transfers that have used up their share of one; in a turn only.
final class CurlTurns {
    /// How long a transfer waits whose input brings nothing: 20 ms, three times as long as it took to read.
    static let delayMilliseconds = 20

    /// The turn that runs.
    private(set) var number = 0
    /// The call of libcurl that runs.
    private(set) var callNumber = 0
    private var paused: [CurlTransfer] = []
    /// Of the responses over HTTP/2 that have begun.
    private var sharedLanes: Set<CurlWaitingLine<CurlTransfer>.Lane> = []
    private var sharedTurn = CurlSharedTurn()
    /// In the order of their times.
    private var delayed: [(transfer: CurlTransfer, due: Int)] = []

    /// Whether a transfer waits for the next turn.
    var isAwaited: Bool { !paused.isEmpty }

    /// When the next delayed transfer goes on, in milliseconds of ``MonotonicTime``; nil for never.
    var nextDue: Int? { delayed.first?.due }

    func begin() {
        number &+= 1
        sharedTurn = CurlSharedTurn()
    }

    /// Counts a piece of a response over HTTP/2.
    ///
    /// - Parameter now: The time in milliseconds.
    /// - Returns: Whether the turn takes long and brings little.
    func countShared(_ byteCount: Int, now: Int) -> Bool {
        sharedTurn.count(byteCount, now: now)
    }

    /// Libcurl is about to be called.
    func beginCall() {
        callNumber &+= 1
    }

    /// Keeps a transfer that libcurl was told to pause until the next turn.
    func pause(_ transfer: CurlTransfer) {
        paused.append(transfer)
    }

    /// Keeps a transfer that libcurl was told to pause for ``delayMilliseconds``.
    func delay(_ transfer: CurlTransfer, now: Int) {
        delayed.append((transfer, now + Self.delayMilliseconds))
    }

    /// A response over HTTP/2 has begun; libcurl takes no transfer before its call returns.
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

    /// The transfers that go on now.
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

/// What all responses over HTTP/2 bring in one turn.
///
/// A pause of a stream changes its window and can delay the others of its connection. So a response over HTTP/2 has no share
/// of each turn. It pauses only if the turn is slow: with frames of one byte, 100 reads take 50 ms and bring 300 KB, and a
/// healthy call beside them waited 1.7 s.
struct CurlSharedTurn {
    /// The shortest turn that is slow, in milliseconds.
    static let minimumMilliseconds = 2
    /// The most bytes that a slow turn brings in that time: 32 KiB, which is 16 MB/s.
    ///
    /// Frames of one byte bring 14 KB.
    static let maximumByteCount = 32 << 10
    /// A piece of this size is no part of an attack, and passes; 32 KiB of frames of one byte make a piece of 3 KB.
    static let largePieceByteCount = 4 << 10

    private var start: Int?
    private var byteCount = 0

    /// Counts a piece.
    ///
    /// - Parameter now: The time in milliseconds.
    /// - Returns: Whether the turn is slow up to here.
    mutating func count(_ byteCount: Int, now: Int) -> Bool {
        let start = start ?? now
        self.start = start
        self.byteCount += byteCount
        let elapsed = now - start
        return elapsed >= Self.minimumMilliseconds
            && self.byteCount < Self.maximumByteCount * elapsed / Self.minimumMilliseconds
    }
}

/// What one response over HTTP/1 may take of one turn.
///
/// libcurl reads as long as there is something to read. A server that sends as fast as it is read would keep the loop's
/// thread for as long as it likes: a healthy call beside chunks of one byte waited 1.8 s.
struct CurlTurnShare {
    /// The most bytes of a collected body: 256 KiB; a streamed body has its window.
    ///
    /// A healthy call takes two or three turns. With 1 MiB, beside a body that comes as fast as it is read, these are more
    /// than 2 ms where the cores are busy.
    static let maximumByteCount = 256 << 10
    /// The most pieces of a body, which a server may make one byte long.
    static let maximumPieceCount = 1024
    /// The most rounds of up to 100 reads each; libcurl tells of each once or twice.
    static let maximumRoundCount = 4
    /// How long rounds may go on that bring no piece of a body, in milliseconds: chunk extensions.
    ///
    /// A full round has 1.6 MB and takes about 3 ms. Short ones, of an incomplete TLS record, take none.
    static let maximumEmptyMilliseconds = 2

    /// What comes after a round.
    enum Pause: Equatable {
        case none
        case untilNextTurn
        /// Until ``CurlTurns/delayMilliseconds`` are over: where each turn read as much as a turn may, a healthy call
        /// beside a chunk extension without an end waited 0.8 s.
        case delay
    }

    private var turn = -1
    private var byteCount = 0
    private var pieceCount = 0
    private var roundCount = 0
    private var isRoundEmpty = true
    /// When the first of the last rounds without a piece ended.
    private var emptySince: Int?
    private var isPaused = false

    /// Whether a piece of a body is within the share; the first one of a turn always is.
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
    /// - Returns: What is to happen; nothing where the transfer pauses since an earlier round of the turn.
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

#endif
