// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What stays of a script that has ended, for carriers that live longer than it does.
final class ScriptEnding: Sendable {
    typealias Recorder = @Sendable (String) -> Void

    private let ended = Locked<(scope: String, onLateRequest: Recorder?)?>(nil)

    /// Notes which scope has ended; only the first one counts.
    func note(_ scope: String, _ onLateRequest: Recorder?) {
        ended.withLock { $0 = $0 ?? (scope, onLateRequest) }
    }

    /// What a request fails with that comes now; nil before the end.
    func refusal(of request: ApiRequest) -> ApiConnectorError? {
        guard let ended = ended.withLock({ $0 }) else { return nil }
        return Self.refusal(of: request, after: ended.scope, ended.onLateRequest)
    }

    /// What a request fails with that came after the end; said where it is seen even if its caller says nothing.
    static func refusal(of request: ApiRequest, after scope: String, _ onLateRequest: Recorder?) -> ApiConnectorError {
        let text = VerdictText.late(scope)
        StandardError.write("\(request): \(text).")
        onLateRequest?("\(request): \(text).")
        return ApiConnectorError(.unmatched, text, request: request)
    }
}
