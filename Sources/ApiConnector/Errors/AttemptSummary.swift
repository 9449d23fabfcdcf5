// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A failed attempt that was followed by another attempt.
public struct AttemptSummary: Sendable, Hashable {
    /// The request as it was sent, with secrets replaced.
    ///
    /// ``RequestSummary/attempt`` is the number of the attempt.
    public let request: RequestSummary

    /// The status of the response; nil if the attempt failed without a response.
    public let status: HTTPStatus?

    /// The kind of failure; `.unacceptableStatus` if the attempt returned a response that called for a retry.
    public let kind: ApiConnectorError.Kind

    /// The failure in words, as part of a sentence and without a full stop.
    public let detail: String

    /// How long the attempt took.
    public let duration: Duration

    /// How long the call waited before the next attempt.
    public let wait: Duration

    /// The times of the attempt's phases; nil if the transport does not measure them, or was not reached.
    public let times: TransportTimes?

    init(_ request: ApiRequest, _ result: Result<ApiResponse, ApiConnectorError>, duration: Duration, wait: Duration) {
        self.request = RequestSummary(request)
        self.duration = duration
        self.wait = wait
        switch result {
        case .success(let response):
            status = response.status
            times = response.times
            kind = .unacceptableStatus
            detail = "the server answered \(response.status)"
        case .failure(let error):
            status = error.response?.status
            times = error.times
            kind = error.kind
            detail = error.detail
        }
    }
}
