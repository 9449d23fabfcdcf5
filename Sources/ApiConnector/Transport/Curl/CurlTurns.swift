// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// Counts the loop's turns, and stores the transfers that the loop serves later; used only in a turn.
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
    /// The transfers that have received data in this turn.
    private var deliveries: [CurlTransfer] = []
    /// The groups of the responses over HTTP/2 that have begun.
    private var sharedGroups: Set<CurlWaitingQueue<CurlTransfer>.Group> = []
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

    /// Records that a transfer has received data for its reader, which gets it at the end of the turn.
    ///
    /// libcurl delivers 16 KiB at a time. Waking the reader for each piece took half of the time of a large body.
    func deliver(_ transfer: CurlTransfer) {
        if deliveries.last !== transfer { deliveries.append(transfer) }
    }

    /// Returns a transfer that has received data, and removes it.
    func takeDelivery() -> CurlTransfer? {
        deliveries.popLast()
    }

    /// Records that a response over HTTP/2 has begun.
    ///
    /// The waiting calls start later, because libcurl accepts no new transfers while it calls a callback.
    func recordSharing(of transfer: CurlTransfer) {
        guard let group = transfer.group else { return }
        sharedGroups.insert(group)
    }

    /// The groups whose calls may share connections now.
    func takeSharedGroups() -> Set<CurlWaitingQueue<CurlTransfer>.Group> {
        guard !sharedGroups.isEmpty else { return [] }
        defer { sharedGroups = [] }
        return sharedGroups
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

#endif
