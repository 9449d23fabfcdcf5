// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// Counts the loop's turns, and keeps the transfers that have used up their share of one; in a turn only.
final class CurlTurns {
    /// The turn that runs.
    private(set) var number = 0
    /// The call of libcurl that runs.
    private(set) var callNumber = 0
    private var paused: [CurlTransfer] = []

    /// Whether a transfer waits for the next turn.
    var isAwaited: Bool { !paused.isEmpty }

    func begin() {
        number &+= 1
    }

    /// Libcurl is about to be called.
    func beginCall() {
        callNumber &+= 1
    }

    /// Keeps a transfer that libcurl was told to pause until the next turn.
    func pause(_ transfer: CurlTransfer) {
        paused.append(transfer)
    }

    /// The transfers that go on now.
    func takePaused() -> [CurlTransfer] {
        guard isAwaited else { return [] }
        defer { paused = [] }
        return paused
    }
}

/// What one response over HTTP/1 may take of one turn.
///
/// libcurl reads as long as there is something to read. A server that sends as fast as it is read would keep the loop's
/// thread for as long as it likes: a healthy call beside chunks of one byte waited 1.8 s. Over HTTP/2 a pause delays the
/// other streams of the connection by 20 ms, so a response over HTTP/2 is not paused.
struct CurlTurnShare {
    /// The most bytes of a collected body: 1 MiB; a streamed body has its window.
    static let maximumByteCount = 1 << 20
    /// The most pieces of a body, which a server may make one byte long.
    static let maximumPieceCount = 1024
    /// The most rounds of 100 reads each, in which nothing of a body needs to come: chunk extensions.
    static let maximumRoundCount = 4

    private var turn = -1
    private var byteCount = 0
    private var pieceCount = 0
    private var roundCount = 0

    /// Whether a piece of a body is within the share; the first one of a turn always is.
    mutating func admits(_ count: Int, isStreamed: Bool, in turn: Int) -> Bool {
        enter(turn)
        guard pieceCount < Self.maximumPieceCount, isStreamed || byteCount < Self.maximumByteCount else { return false }
        pieceCount += 1
        byteCount += count
        return true
    }

    /// Whether another round of reads is within the share.
    mutating func admitsRound(in turn: Int) -> Bool {
        enter(turn)
        roundCount += 1
        return roundCount <= Self.maximumRoundCount
    }

    private mutating func enter(_ turn: Int) {
        guard turn != self.turn else { return }
        self = CurlTurnShare()
        self.turn = turn
    }
}

#endif
