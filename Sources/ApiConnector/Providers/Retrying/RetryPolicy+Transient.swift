// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RetryPolicy {
    /// Status codes that may be different on a retry, each with its reason.
    public static let standardStatuses: Set<HTTPStatus> = [
        // Request Timeout: the server gave up waiting for the request on an idle connection.
        408,
        // Too Early: the server does not risk a replay of early data; a retry has no early data.
        425,
        // Too Many Requests: usually with Retry-After.
        429,
        // Internal Server Error: often one bad instance of many. 501 and 505 are left out, because they are permanent.
        500,
        // Bad Gateway: a proxy got an invalid response from the server.
        502,
        // Service Unavailable: overload or maintenance, often with Retry-After.
        503,
        // Gateway Timeout: a proxy got no response in time.
        504,
    ]

    /// The kinds of failure that may be transient, each with its reason.
    ///
    /// Not included are kinds with other causes:
    ///
    /// - the request or the caller: `invalidRequest`, `encodingFailed`, `bodyTooLarge`, `notReplayable`, `cancelled`,
    ///   `deadlineExceeded`
    /// - a problem that a person has to fix: `secureConnectionFailed`, `credentialsUnavailable`
    /// - the decision of another wrapper: `circuitOpen`, `notCached`
    /// - a server that will respond the same way again: `malformedResponse`
    public static let standardKinds: Set<ApiConnectorError.Kind> = [
        // The resolver was not reachable, or the network changed. A host name that is wrong costs a few attempts.
        .nameNotResolved,
        // The network was down for a moment, or the server is restarting.
        .cannotConnect,
        // The server closed an idle connection, or the network changed.
        .connectionLost,
        // An attempt took too long; the next one may reach another instance.
        .timedOut,
        // Like timedOut; the connection may be lost without a notification.
        .stalled,
    ]

    /// The kinds of failure before any byte is sent, after which every request can be sent again.
    public static let kindsBeforeSending: Set<ApiConnectorError.Kind> = [.nameNotResolved, .cannotConnect]

    func isTransient(_ result: Result<ApiResponse, ApiConnectorError>) -> Bool {
        switch result {
        case .success(let response): isTransient(response)
        case .failure(let error): !error.isPermanent && isTransient(error)
        }
    }

    func isTransient(_ response: ApiResponse) -> Bool { isTransient(response.status, response.headers) }

    /// Whether an error is transient, by its kind or by the rejected status.
    private func isTransient(_ error: ApiConnectorError) -> Bool {
        if kinds.contains(error.kind) { return true }
        guard error.kind == .unacceptableStatus || error.kind == .backendFailure, let response = error.response else {
            return false
        }
        return isTransient(response.status, response.headers)
    }

    /// Whether a status is transient.
    ///
    /// A 403 with `Retry-After` counts as 429; GitHub responds this way.
    private func isTransient(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        if status == 403, headers.contains(.retryAfter) { return statuses.contains(429) }
        return statuses.contains(status)
    }
}
