// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@Suite struct CallOutcomeTests {
    @Test func aCallHasAStatusUnlessItsResponseWasLost() {
        #expect(CallOutcome.answered(404).status == 404)
        #expect(CallOutcome.left(200).status == 200)
        #expect(CallOutcome.failed(ApiConnectorError(.connectionLost, "gone")).status == nil)
    }

    @Test func aFailureIsAStatusOf400OrAboveOrAnErrorOtherThanACancel() {
        #expect(!CallOutcome.answered(399).isFailure)
        #expect(CallOutcome.answered(400).isFailure)
        #expect(!CallOutcome.left(500).isFailure)
        #expect(CallOutcome.failed(ApiConnectorError(.connectionLost, "gone")).isFailure)
        #expect(!CallOutcome.failed(ApiConnectorError(.cancelled, "left")).isFailure)
    }

    @Test func theLabelHasFewValues() {
        #expect(CallOutcome.answered(204).label == "2xx")
        #expect(CallOutcome.answered(599).label == "5xx")
        #expect(CallOutcome.left(200).label == "left")
        #expect(CallOutcome.failed(ApiConnectorError(.connectionLost, "gone")).label == "connectionLost")
    }
}
