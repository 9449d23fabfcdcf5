// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An attempt that failed and was followed by another one.
public struct AttemptSummary: Sendable, Hashable {
    /// The request as it was sent, with secrets replaced; its ``RequestSummary/attempt`` says which attempt it was.
    public let request: RequestSummary

    /// The status that it was answered with; nil where it failed without one.
    public let status: HTTPStatus?

    /// What kind of failure it was; `.unacceptableStatus` for a status.
    public let kind: ApiConnectorError.Kind

    /// What happened, in one sentence without a full stop.
    public let detail: String

    /// How long it took.
    public let duration: Duration

    /// How long the next attempt had to wait.
    public let wait: Duration

    /// Where its time went; nil where the transport does not measure it, or was not reached.
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
