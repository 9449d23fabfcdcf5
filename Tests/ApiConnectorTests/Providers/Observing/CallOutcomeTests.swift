// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct CallOutcomeTests {
    @Test func aCallHasAStatusUnlessItsResponseWasLost() {
        #expect(CallEvent.Outcome.answered(404).status == 404)
        #expect(CallEvent.Outcome.left(200).status == 200)
        #expect(CallEvent.Outcome.failed(ApiConnectorError(.connectionLost, "gone")).status == nil)
    }

    @Test func aFailureIsAStatusOf400OrAboveOrAnErrorOtherThanACancel() {
        #expect(!CallEvent.Outcome.answered(399).isFailure)
        #expect(CallEvent.Outcome.answered(400).isFailure)
        #expect(!CallEvent.Outcome.left(500).isFailure)
        #expect(CallEvent.Outcome.failed(ApiConnectorError(.connectionLost, "gone")).isFailure)
        #expect(!CallEvent.Outcome.failed(ApiConnectorError(.cancelled, "left")).isFailure)
    }

    @Test func theLabelHasFewValues() {
        #expect(CallEvent.Outcome.answered(204).label == "2xx")
        #expect(CallEvent.Outcome.answered(599).label == "5xx")
        #expect(CallEvent.Outcome.left(200).label == "left")
        #expect(CallEvent.Outcome.failed(ApiConnectorError(.connectionLost, "gone")).label == "connectionLost")
    }
}
