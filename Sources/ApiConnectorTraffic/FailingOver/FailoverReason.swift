// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The reason to try the next host.
struct FailoverReason {
    let text: String
    private let isBeforeSending: Bool

    /// Returns nil for a good response, and for a failure that another host would not fix.
    init?(_ result: Result<ApiResponse, ApiConnectorError>) {
        switch result {
        case .success(let response):
            guard CircuitPolicy.standardStatuses.contains(response.status) else { return nil }
            text = String(response.status.rawValue)
            isBeforeSending = false
        case .failure(let error):
            isBeforeSending = error.kind == .circuitOpen || RetryPolicy.kindsBeforeSending.contains(error.kind)
            guard isBeforeSending || RetryPolicy.standardKinds.contains(error.kind) else { return nil }
            text = error.kind.rawValue
        }
    }

    func allowsRepeating(_ request: ApiRequest) -> Bool {
        guard request.body.isReplayable else { return false }
        return isBeforeSending || request.isRepeatable
    }
}
