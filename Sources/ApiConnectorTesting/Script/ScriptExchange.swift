// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A request that a script has received, with its canned response.
package struct ScriptExchange: Sendable {
    let sent: RecordedRequest
    /// Nil for a request without an answer.
    let response: TestConnectorResponse?
    /// The line of the answer, or of the script for a request without an answer.
    let place: CodeLocation

    /// Called with the exchanges of each script of the task when the script ends; returns their issues.
    ///
    /// Nil by default.
    @TaskLocal package static var collector: (@Sendable ([ScriptExchange]) -> [TestIssue])?
}
