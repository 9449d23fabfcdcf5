// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Whether a script has ended, and what a request fails with that comes later; it outlives the script.
final class ScriptEnding: Sendable {
    private struct State {
        var scope: String?
        var onLateRequest: (@Sendable (String) -> Void)?
    }

    private let state = Locked(State())

    /// The scope that has ended; nil before the end.
    var scope: String? { state.withLock { $0.scope } }

    /// Sets what records the text of a request that comes after the end.
    func onLateRequest(_ record: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onLateRequest = record }
    }

    /// Notes which scope has ended; only the first one counts.
    func note(_ scope: String) {
        state.withLock { $0.scope = $0.scope ?? scope }
    }

    /// What a request fails with that comes now; nil before the end.
    func refusal(of request: ApiRequest) -> ApiConnectorError? {
        scope.map { refusal(of: request, after: $0) }
    }

    /// What a request fails with that came after the end.
    ///
    /// The text is printed too, for the caller may not show the error.
    func refusal(of request: ApiRequest, after scope: String) -> ApiConnectorError {
        let text = IssueText.late(scope)
        StandardError.write("\(request): \(text).")
        let record = state.withLock { $0.onLateRequest }
        record?("\(request): \(text).")
        return ApiConnectorError(.unmatched, text, request: request)
    }
}
