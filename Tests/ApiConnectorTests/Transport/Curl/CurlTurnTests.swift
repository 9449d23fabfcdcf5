// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Responses that arrive as fast as they are read, with a concurrent call to another server.
@Suite(.timeLimit(.minutes(10))) struct CurlTurnTests {}

extension CurlTurnTests {
    /// A server that sends a block again and again until it is told to stop.
    private func endlessServer(_ start: String, _ block: String, started: Gate, isOver: Flag) throws -> LoopbackServer {
        let data = Data(String(repeating: block, count: 65_536 / block.utf8.count).utf8)
        return try LoopbackServer { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(start)")
            while !isOver.isSet {
                try connection.send(data)
                started.open()
            }
        }
    }

    /// Chunks of one byte, and a chunk extension without an end.
    @Test(arguments: [("", "1\r\na\r\n"), ("1;", "x")])
    func anEndlessResponseDoesNotBlockOtherCalls(_ start: String, _ block: String) async throws {
        let (started, isOver) = (Gate(), Flag())
        let endless = try endlessServer(start, block, started: started, isOver: isOver)
        let healthy = try LoopbackServer.responding { _ in .text("ok") }
        let provider = CurlProvider(configuration: .patient)
        var request = ApiRequest(url: endless.url())
        request.delivery = .collected(upTo: .max)
        let call = Task { [request] in try await provider.response(for: request) }
        try await started.opened()
        for _ in 0..<20 {
            let response = try await provider.response(for: ApiRequest(url: healthy.url()))
            #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
        }
        call.cancel()
        guard case .failure(let error as ApiConnectorError) = await call.result else {
            Issue.record("the endless response ended")
            return
        }
        #expect(error.kind == .cancelled)
        isOver.set()
        withExtendedLifetime((healthy, endless)) {}
    }

    @Test func aShareAdmitsItsFirstPieceAndEndsWithTheTurn() {
        var share = CurlTurnShare()
        let most = CurlTurnShare.maximumByteCount
        let admitted = [(most, false, 1), (1, false, 1), (1, true, 1), (most + 1, false, 2)].map {
            share.admits($0, isStreamed: $1, in: $2)
        }
        #expect(admitted == [true, false, true, true])
    }

    private static let longTurns: [(pieces: [(count: Int, at: Int)], isSlow: [Bool])] = [
        ([(3_000, 0), (3_000, 1), (3_000, 2)], [false, false, true]),
        ([(16_384, 0), (16_384, 1), (16_384, 2)], [false, false, false]), ([(1, 0), (1, 1)], [false, false]),
        ([(64_000, 0), (1, 4), (1, 5)], [false, true, true]),
    ]

    /// Frames of one byte bring some 7 KB in a millisecond; the slowest real connection brings what it has at once.
    @Test(arguments: longTurns)
    func aLongTurnOverHTTP2WithFewBytesIsSlow(_ pieces: [(count: Int, at: Int)], _ isSlow: [Bool]) {
        var turn = CurlSharedTurn()
        #expect(pieces.map { turn.count($0.count, now: 100 + $0.at) } == isSlow)
    }

    @Test func aShareCountsPiecesAndRounds() {
        var share = CurlTurnShare()
        let pieces = (0...CurlTurnShare.maximumPieceCount).map { _ in share.admits(1, isStreamed: true, in: 1) }
        #expect(pieces.firstIndex(of: false) == CurlTurnShare.maximumPieceCount)
    }

    @Test func aResponseWithManyRoundsPausesUntilTheNextTurnOnce() {
        var share = CurlTurnShare()
        let pauses = (0..<7).map { round in
            _ = share.admits(1, isStreamed: true, in: 1)
            return share.finishRound(in: 1, now: 10 * round)
        }
        #expect(pauses == [.none, .none, .none, .none, .untilNextTurn, .none, .none])
        let pause = share.finishRound(in: 2, now: 0)
        #expect(pause == .none)
    }

    @Test func aResponseWithoutBytesForManyRoundsIsDelayedOnce() {
        var share = CurlTurnShare()
        let pauses = [5, 5, 6, 7, 7, 9].map { share.finishRound(in: 1, now: $0) }
        #expect(pauses == [.none, .none, .none, .delay, .none, .none])
    }

    /// libcurl also reports rounds without data.
    @Test func shortRoundsWithoutBytesAreNotDelayed() {
        var share = CurlTurnShare()
        let inTurns = (1...10).map { share.finishRound(in: $0, now: 10 * $0) }
        #expect(inTurns == Array(repeating: .none, count: 10))
        let inOneTurn = (1...4).map { _ in share.finishRound(in: 11, now: 200) }
        #expect(inOneTurn == Array(repeating: .none, count: 4))
    }

    /// libcurl reads nothing more, but another transfer of the connection may read that there is room for the body.
    @Test func aBodyHasStalledAfterHalfASecondWithoutProgress() {
        var recheck = CurlRecheck()
        let moving = (0..<100).map { recheck.hasStalled(Int64($0 / 10), isSending: false, now: 40 * $0) }
        #expect(moving == Array(repeating: false, count: 100))
        let still = [3600, 3960, 4099, 4100].map { recheck.hasStalled(9, isSending: false, now: $0) }
        #expect(still == [false, false, false, true])
    }

    /// The system still has bytes to send, so the server still gets some.
    @Test func aBodyOnASlowLineHasNotStalled() {
        var recheck = CurlRecheck()
        let isSending = [true, true, true, false, false].enumerated()
        let stalled = isSending.map { recheck.hasStalled(10, isSending: $1, now: 400 * $0) }
        #expect(stalled == [false, false, false, false, true])
    }

    /// Once the server has all bytes of the body, the system sends those of the connection's other streams.
    @Test func aBodyNextToOtherTrafficHasStalled() {
        var recheck = CurlRecheck()
        let isSending = [true, true, false, true, true, true].enumerated()
        let stalled = isSending.map { recheck.hasStalled(10, isSending: $1, now: 200 * $0) }
        #expect(stalled == [false, false, false, false, true, true])
        // More of the body was sent.
        let moving = [1200, 1800].map { recheck.hasStalled(20, isSending: true, now: $0) }
        #expect(moving == [false, false])
    }

    @Test func aResponseWithItsLengthIsLookedAtAgainAndAgain() {
        var recheck = CurlRecheck()
        let rounds = (0..<3).map { round in
            recheck.countPiece()
            let isDue = recheck.finishRound(hasLength: true, isPaused: false, now: 100 * round)
            // A transfer may go on earlier for another reason. Each look has one entry among the delayed transfers.
            let isEarly = recheck.begin(now: 100 * round + CurlTurns.delayMilliseconds - 1)
            let isAgain = recheck.finishRound(hasLength: true, isPaused: false, now: 100 * round + 1)
            let isLooking = recheck.begin(now: 100 * round + CurlTurns.delayMilliseconds)
            return [isDue, isEarly, isAgain, isLooking]
        }
        #expect(rounds == Array(repeating: [true, false, false, true], count: 3))
        recheck.countPiece()
        let isDue = recheck.finishRound(hasLength: false, isPaused: false, now: 400)
        #expect(!isDue)
    }

    @Test func aPausedResponseIsLookedAtWhenItGoesOn() {
        var recheck = CurlRecheck()
        _ = recheck.finishRound(hasLength: false, isPaused: false, now: 0)
        let isDelayed = recheck.finishRound(hasLength: false, isPaused: true, now: 10)
        let isLooking = recheck.begin(now: 10)
        #expect(!isDelayed)
        #expect(isLooking)
    }

    @Test func aDelayedTransferContinuesAtItsTime() throws {
        let turns = CurlTurns()
        let (first, second) = (try transfer(), try transfer())
        turns.delay(first, now: 100)
        turns.delay(second, now: 105)
        #expect(turns.nextDue == 100 + CurlTurns.delayMilliseconds)
        #expect(!turns.isAwaited)
        #expect(turns.takePaused(now: 99 + CurlTurns.delayMilliseconds).isEmpty)
        #expect(
            turns.takePaused(now: 104 + CurlTurns.delayMilliseconds).map(ObjectIdentifier.init) == [
                ObjectIdentifier(first)
            ]
        )
        #expect(
            turns.takePaused(now: 200 + CurlTurns.delayMilliseconds).map(ObjectIdentifier.init) == [
                ObjectIdentifier(second)
            ]
        )
        #expect(turns.nextDue == nil)
    }

    private func transfer() throws -> CurlTransfer {
        try CurlTransfer(
            ApiRequest(url: try #require(URL(string: "http://127.0.0.1/"))),
            windowByteCount: 1,
            decompression: nil,
            queue: CurlCommandQueue(CurlConfiguration())
        )
    }
}

private final class Flag: Sendable {
    private let value = Locked(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() {
        value.withLock { $0 = true }
    }
}
#endif
