// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A response that a script has given to a request.
package struct GivenAnswer: Sendable {
    let response: TestConnectorResponse
    let sent: RecordedRequest
    let place: CodeLocation

    /// Gets what each script of the task has given when the script ends; nil for nobody.
    @TaskLocal package static var collector: (@Sendable ([GivenAnswer]) -> Void)?
}
