// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A request that a script has received, with its canned response.
package struct ScriptExchange: Sendable {
    package let sent: RecordedRequest
    /// The canned response; nil for a request without an answer.
    package let response: TestConnectorResponse?
    /// The line of the answer, or of the script for a request without an answer.
    package let place: CodeLocation

    package init(sent: RecordedRequest, response: TestConnectorResponse?, place: CodeLocation) {
        self.sent = sent
        self.response = response
        self.place = place
    }

    /// A closure for the scripts that a task makes.
    ///
    /// When such a script ends, the closure is called with the script's exchanges, and returns their issues.
    ///
    /// Nil by default.
    @TaskLocal package static var collector: (@Sendable ([ScriptExchange]) -> [TestIssue])?
}
