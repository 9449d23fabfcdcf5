// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// When a transfer pauses, so that others get the loop's thread.
struct CurlFlowTests {
    private func admit(_ flow: inout CurlFlow, _ byteCount: Int, in turn: Int, slow: Bool = false) -> CurlFlow.Pause {
        flow.admit(byteCount, isStreamed: false, in: turn, isTurnSlow: slow)
    }

    @Test func aResponseWithoutAHeadIsNotPaused() {
        var flow = CurlFlow()
        for _ in 0..<2 * CurlTurnShare.maximumPieceCount {
            #expect(admit(&flow, 1, in: 1, slow: true) == .none)
            #expect(flow.finishRound(in: 1, now: 0) == .none)
        }
    }

    @Test func aResponseOverHTTP1PausesUntilTheNextTurnWhenItsShareIsUsed() {
        var flow = CurlFlow()
        flow.begin(isHTTP1: true)
        #expect(flow.hasTurnShare && !flow.isShared)
        #expect(admit(&flow, CurlTurnShare.maximumByteCount, in: 1, slow: true) == .none)
        #expect(admit(&flow, 1, in: 1) == .untilNextTurn)
        #expect(admit(&flow, 1, in: 2) == .none)
    }

    @Test func aSmallPieceOverHTTP2IsDelayedInASlowTurnButTheFirstPieceOfATurnIsNot() {
        var flow = CurlFlow()
        flow.begin(isHTTP1: false)
        #expect(flow.isShared && !flow.hasTurnShare)
        #expect(admit(&flow, 1, in: 1, slow: true) == .none)
        #expect(admit(&flow, 1, in: 1) == .none)
        #expect(admit(&flow, 1, in: 1, slow: true) == .delay)
        #expect(admit(&flow, CurlSharedTurn.largePieceByteCount, in: 1, slow: true) == .none)
        #expect(admit(&flow, 1, in: 2, slow: true) == .none)
    }

    /// A round without a piece, after one with a piece, makes libcurl look again after 20 ms.
    @Test func looksAgainOnceAfterARoundWithoutAPiece() {
        var flow = CurlFlow()
        flow.begin(isHTTP1: false)
        #expect(flow.finishSharedRound(hasLength: false, now: 100) == false)
        #expect(flow.finishSharedRound(hasLength: false, now: 100) == true)
        #expect(flow.resume(now: 119) == false)
        #expect(!flow.isLooking)
        #expect(flow.resume(now: 120) == true)
        #expect(flow.isLooking)
        #expect(flow.resume(now: 120) == false)
    }

    @Test func goingOnAndSendingAgainEndAPause() {
        var flow = CurlFlow()
        flow.pauseReceiving(true)
        flow.pauseSending()
        #expect(flow.isReceivePaused && flow.isSendPaused)
        _ = flow.resume(now: 0)
        #expect(!flow.isReceivePaused && !flow.isSendPaused)
        flow.pauseReceiving(true)
        flow.pauseSending()
        flow.restart()
        #expect(!flow.isReceivePaused && !flow.isSendPaused)
    }

    /// A paused response looks when it goes on, and needs no delay.
    @Test func aPausedResponseIsNotDelayedToLookAgain() {
        var flow = CurlFlow()
        flow.begin(isHTTP1: false)
        flow.pauseReceiving(true)
        #expect(flow.finishSharedRound(hasLength: true, now: 100) == false)
        #expect(flow.resume(now: 100) == true)
    }
}

/// The connection of one transfer.
struct CurlConnectingTests {
    private let connection = CurlConnectionName(
        localAddress: "127.0.0.1",
        localPort: 1,
        remoteAddress: "127.0.0.1",
        remotePort: 2
    )

    @Test func aTransferWithoutAnOpenedSocketReusesAConnection() {
        var connecting = CurlConnecting()
        #expect(connecting.isReused)
        connecting.open(7, errorNumber: 0)
        #expect(!connecting.isReused)
        #expect(connecting.takeOpenedSockets() == [7])
        #expect(connecting.isReused)
    }

    @Test func aFailedSocketLeavesItsErrorNumberUntilOneIsOpened() {
        var connecting = CurlConnecting()
        connecting.open(-1, errorNumber: 24)
        #expect(connecting.socketError == 24)
        #expect(connecting.isReused)
        connecting.open(7, errorNumber: 24)
        #expect(connecting.socketError == 0)
    }

    @Test func aSecondAdditionForgetsTheConnectionButNotTheRequiredVersion() {
        var connecting = CurlConnecting()
        connecting.open(7, errorNumber: 0)
        connecting.useHTTP1()
        connecting.use(connection, isNew: true)
        connecting.restart()
        #expect(connecting.connection == nil)
        #expect(!connecting.isNew)
        #expect(connecting.isReused)
        #expect(connecting.usesHTTP1)
    }

    @Test func aTunnelIsRefusedAfter64KiBAndChecksForACancellationAtEach256thByte() {
        var connecting = CurlConnecting()
        let steps = (0..<CurlConnecting.maximumTunnelByteCount).map { _ in connecting.countPreparation() }
        #expect(steps.filter { $0 == .checkCancellation }.count == 256)
        #expect(steps[255] == .checkCancellation)
        #expect(!steps.contains(.refuse))
        #expect(connecting.countPreparation() == .refuse)
    }
}
#endif
