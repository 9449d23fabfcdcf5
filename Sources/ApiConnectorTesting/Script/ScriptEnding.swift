// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// Records whether a script has ended, and makes the errors for later requests.
///
/// It outlives the script.
package final class ScriptEnding: Sendable {
    private struct State {
        var scope: String?
        var onLateRequest: (@Sendable (String) -> Void)?
    }

    private let state = Locked(State())

    /// The name of the ended scope; nil before the end.
    var scope: String? { state.withLock { $0.scope } }

    /// Sets a closure that records the error text of each request that arrives after the end.
    func onLateRequest(_ record: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onLateRequest = record }
    }

    /// Records the name of the ended scope.
    ///
    /// Only the first name counts.
    package func note(_ scope: String) {
        state.withLock { $0.scope = $0.scope ?? scope }
    }

    /// The error for a request; nil before the script's end.
    package func refusal(of request: ApiRequest) -> ApiConnectorError? {
        scope.map { refusal(of: request, after: $0) }
    }

    /// The error for a request that arrived after the script's end.
    ///
    /// The text is also printed, because the caller may not show the error.
    package func refusal(of request: ApiRequest, after scope: String) -> ApiConnectorError {
        let text = IssueText.late(scope)
        StandardError.write("\(request): \(text).")
        let record = state.withLock { $0.onLateRequest }
        record?("\(request): \(text).")
        return ApiConnectorError(.unmatched, text, request: request)
    }
}
