// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Whether a request may be sent, and sent again.
struct CurlSendStateTests {
    @Test func aRequestThatRequiresHTTP1LeavesAConnectionOverHTTP2() {
        var state = CurlSendState(route: .any)
        var question = CurlSendState.Question()
        question.isReused = true
        question.hasOtherVersion = true
        #expect(state.ask(question) == .again(.fresh))
    }

    @Test func aSecondAdditionCountsItsSendsAgainAndRemembersThatAPartWasSent() {
        var state = CurlSendState()
        _ = state.ask(CurlSendState.Question())
        #expect(state.sendCount == 1)
        state.restart(wasSent: false)
        #expect(state.sendCount == 0)
        #expect(!state.hasSentBefore)
        state.restart(wasSent: true)
        state.restart(wasSent: false)
        #expect(state.hasSentBefore)
    }

    @Test func theRouteIsAppliedOnlyWhenItChanges() {
        var state = CurlSendState()
        #expect(state.apply(.any) == false)
        #expect(state.apply(.fresh) == true)
        #expect(state.apply(.fresh) == false)
        #expect(state.appliedRoute == .fresh)
    }

    @Test func aBodyThatCannotBeReadAgainIsUsedUp() {
        var state = CurlSendState()
        #expect(state.recordRewind(true) == true)
        #expect(!state.isBodyUsedUp)
        #expect(state.recordRewind(false) == false)
        #expect(state.isBodyUsedUp)
    }

    private let state = Sender()

    private func question(_ change: (inout CurlSendState.Question) -> Void) -> CurlSendState.Question {
        var question = CurlSendState.Question()
        change(&question)
        return question
    }

    private func failure(_ change: (inout CurlSendState.Failure) -> Void) -> CurlSendState.Failure {
        var failure = CurlSendState.Failure()
        change(&failure)
        return failure
    }

    @Test func sendsOnANewConnection() {
        #expect(state.ask(question { _ in }) == .send)
        #expect(state.ask(question { $0.isReused = true }) == .send)
    }

    @Test func doesNotReuseAConnectionThatTheServerHasClosed() {
        #expect(
            state.ask(
                question {
                    $0.isReused = true
                    $0.hasEnded = true
                }
            ) == .again(.fresh)
        )
        #expect(state.retry(failure { _ in }))
        #expect(state.route == .fresh)
    }

    @Test func sendsToAServerThatClosesEachConnectionAtOnce() {
        #expect(state.ask(question { $0.hasEnded = true }) == .again(.fresh))
        #expect(state.retry(failure { _ in }))
        #expect(state.ask(question { $0.hasEnded = true }) == .send)
    }

    @Test func retriesOnceARequestThatTheServerHasNotProcessed() {
        let proven = question {
            $0.wasSent = true
            $0.isProvenUnprocessed = true
        }
        #expect(state.ask(proven) == .send)
        #expect(state.ask(proven) == .refuse)
    }

    @Test func retriesOnceAnIdempotentRequest() {
        let repeatable = question {
            $0.wasSent = true
            $0.isRepeatable = true
        }
        #expect(state.ask(repeatable) == .send)
        #expect(state.ask(repeatable) == .refuse)
    }

    @Test func retriesOnANewConnection() {
        let repeatable = question {
            $0.wasSent = true
            $0.isReused = true
            $0.isRepeatable = true
        }
        #expect(state.ask(repeatable) == .again(.fresh))
        #expect(state.retry(failure { $0.wasSent = true }))
        #expect(state.route == .fresh)
        #expect(state.ask(question { _ in }) == .send)
        let lost = failure {
            $0.isLostConnection = true
            $0.wasSent = true
            $0.isRepeatable = true
        }
        #expect(!state.retry(lost))
    }

    @Test func retriesNoOtherRequest() {
        #expect(state.ask(question { $0.wasSent = true }) == .refuse)
        #expect(!state.retry(failure { $0.isLostConnection = true }))
    }

    @Test(arguments: [false, true]) func retriesAnUnsentRequestAfterAFailure(_ isProven: Bool) {
        _ = state.ask(question { _ in })
        let unprocessed = failure {
            $0.isLostConnection = true
            $0.wasSent = isProven
            $0.isProvenUnprocessed = isProven
        }
        #expect(state.retry(unprocessed))
        #expect(state.route == .fresh)
        #expect(!state.retry(unprocessed))
    }

    @Test func doesNotRetryASentRequestAfterAFailure() {
        _ = state.ask(question { _ in })
        let lost = failure {
            $0.isLostConnection = true
            $0.wasSent = true
        }
        #expect(!state.retry(lost))
    }

    @Test func leavesAnOpenRouteWithoutCountingTwice() {
        let state = Sender(route: .open)
        let repeatable = question {
            $0.wasSent = true
            $0.isRepeatable = true
        }
        #expect(!state.mayConnect(repeatable))
        #expect(!state.mayConnect(repeatable))
        #expect(state.step == .again(.fresh))
    }
}

/// The state, for expectations: they cannot change a value.
private final class Sender {
    private var state: CurlSendState

    init(route: CurlSendState.Route = .any) {
        state = CurlSendState(route: route)
    }

    var route: CurlSendState.Route { state.route }
    var step: CurlSendState.Step { state.step }

    func ask(_ question: CurlSendState.Question) -> CurlSendState.Step { state.ask(question) }
    func mayConnect(_ question: CurlSendState.Question) -> Bool { state.mayConnect(question) }
    func retry(_ failure: CurlSendState.Failure) -> Bool { state.retry(failure) }
}
