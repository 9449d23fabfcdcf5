// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The reason to try the next host.
struct FailoverReason {
    let text: String
    private let isBeforeSending: Bool
    private let earlierAttempts: [AttemptSummary]

    /// Returns nil for a good response, and for a failure that another host would not fix.
    init?(_ result: Result<ApiResponse, ApiConnectorError>) {
        switch result {
        case .success(let response):
            guard CircuitPolicy.standardStatuses.contains(response.status) else { return nil }
            text = String(response.status.rawValue)
            isBeforeSending = false
            earlierAttempts = []
        case .failure(let error):
            isBeforeSending = Self.isBeforeSending(error.kind)
            guard isBeforeSending || RetryPolicy.standardKinds.contains(error.kind) else { return nil }
            text = error.kind.rawValue
            earlierAttempts = error.earlierAttempts
        }
    }

    func allowsRepeating(_ request: ApiRequest) -> Bool {
        guard request.body.isReplayable else { return false }
        if request.isRepeatable { return true }
        // An inner retrying provider may have sent a POST with its own idempotency key, which this request lacks.
        let inner = earlierAttempts.dropFirst(request.earlierAttempts.count)
        return isBeforeSending && inner.allSatisfy { Self.isBeforeSending($0.kind) }
    }

    private static func isBeforeSending(_ kind: ApiConnectorError.Kind) -> Bool {
        kind == .circuitOpen || RetryPolicy.kindsBeforeSending.contains(kind)
    }
}
