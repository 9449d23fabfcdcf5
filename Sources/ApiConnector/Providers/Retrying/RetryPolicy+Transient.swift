// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RetryPolicy {
    /// Statuses that say "not now", each with its reason; every other status says the same the next time.
    public static let standardStatuses: Set<HTTPStatus> = [
        // Request Timeout: the server gave up waiting for the request on an idle connection.
        408,
        // Too Early: the server will not risk a replay of early data; the next attempt has none.
        425,
        // Too Many Requests: usually with Retry-After.
        429,
        // Internal Server Error: often one bad instance of many. 501 and 505 are not here: they will not change.
        500,
        // Bad Gateway: a proxy got no sound answer from the server behind it.
        502,
        // Service Unavailable: overload or maintenance, often with Retry-After.
        503,
        // Gateway Timeout: a proxy got no answer in time.
        504,
    ]

    /// Kinds of failure that may pass, each with its reason.
    ///
    /// Not among them: what the request or the caller causes (`invalidRequest`, `encodingFailed`, `bodyTooLarge`,
    /// `notReplayable`, `cancelled`, `deadlineExceeded`), what a person has to fix (`secureConnectionFailed`,
    /// `credentialsUnavailable`), what another wrapper decided (`circuitOpen`, `notCached`), and what the server will
    /// say again (`malformedResponse`).
    public static let standardKinds: Set<ApiConnectorError.Kind> = [
        // The resolver was not reachable, or the network changed; a name that is wrong costs some attempts.
        .nameNotResolved,
        // No network for a moment, or a server that is being restarted.
        .cannotConnect,
        // The server closed a connection that was idle, or the network changed.
        .connectionLost,
        // An attempt took too long: the next may meet another instance.
        .timedOut,
        // As for timedOut; the connection may be dead without anybody having said so.
        .stalled,
    ]

    /// Kinds of failure that arise before any byte is sent, so that any request can be sent again.
    public static let kindsBeforeSending: Set<ApiConnectorError.Kind> = [.nameNotResolved, .cannotConnect]

    func isTransient(_ result: Result<ApiResponse, ApiConnectorError>) -> Bool {
        switch result {
        case .success(let response): isTransient(response)
        case .failure(let error): !error.isPermanent && isTransient(error)
        }
    }

    func isTransient(_ response: ApiResponse) -> Bool { isTransient(response.status, response.headers) }

    /// Whether an error may pass: by its kind, or by the status that was refused.
    private func isTransient(_ error: ApiConnectorError) -> Bool {
        if kinds.contains(error.kind) { return true }
        guard error.kind == .unacceptableStatus || error.kind == .backendFailure, let response = error.response else {
            return false
        }
        return isTransient(response.status, response.headers)
    }

    /// Whether the next status may be another one.
    ///
    /// A 403 with `Retry-After` is a server's way to say 429, as GitHub does.
    private func isTransient(_ status: HTTPStatus, _ headers: HTTPHeaders) -> Bool {
        if status == 403, headers.contains(.retryAfter) { return statuses.contains(429) }
        return statuses.contains(status)
    }
}

extension ApiRequest {
    /// Whether sending it twice has the effect of sending it once.
    ///
    /// This is so if its method is idempotent, or if it has an `Idempotency-Key`. Its body can still be one that cannot be
    /// sent again: ``RequestBody/isReplayable``.
    public var isRepeatable: Bool {
        method.isIdempotent || headers[.idempotencyKey]?.isEmpty == false
    }
}
