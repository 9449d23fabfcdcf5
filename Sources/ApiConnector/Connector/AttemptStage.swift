// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Sends one request through the providers, within the limits of time that hold for an attempt.
struct AttemptStage: Sendable {
    let provider: any DataRequestType
    let timeouts: Timeouts
    let timers: TimerQueue

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.timers = timers
        return try await provider.attempt(request, within: timeouts)
    }
}
