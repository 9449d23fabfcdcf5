// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that fails over to other hosts; made by
/// ``ApiConnector/DataRequestType/failingOver(to:for:credentials:)``.
struct Failover<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let hosts: FailoverHosts
    private let credentials: CredentialScope

    init(_ wrapped: Wrapped, _ hosts: FailoverHosts, _ credentials: CredentialScope) {
        self.wrapped = wrapped
        self.hosts = hosts
        self.credentials = credentials
    }

    /// Sends the request to one host after the other until one answers.
    ///
    /// - Throws: The error of the wrapped provider for the last host.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // The credentials of a token refresh are meant for one host only.
        guard !request.isCredentialRefresh, let own = HTTPOrigin(request.url),
            let origins = hosts.order(from: own, now: request.timeSource.now)
        else { return try await wrapped.response(for: request) }
        var last: (result: Result<ApiResponse, ApiConnectorError>, reason: FailoverReason)?
        for origin in origins {
            guard let moved = request.moved(to: origin, showingCredentialsTo: credentials) else { continue }
            last?.result.discardBody()
            if origin != own || last != nil {
                request.report(.failedOver(to: origin.description, because: last?.reason.text ?? "remembered"))
            }
            let result = await wrapped.outcome(of: moved)
            guard let reason = FailoverReason(result) else {
                if case .success = result { hosts.note(origin, isFailing: false, now: request.timeSource.now) }
                return try result.get()
            }
            hosts.note(origin, isFailing: true, now: request.timeSource.now)
            guard reason.allowsRepeating(request) else { return try result.get() }
            last = (result, reason)
        }
        // At least the request's own host was tried.
        guard let last else { return try await wrapped.response(for: request) }
        return try last.result.get()
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to send a request to another host if a host fails.
    ///
    /// The request's own host is tried first, then the others in order. A host that has failed is tried last for
    /// `duration`. A request to a host that is not in `hosts` is sent unchanged.
    ///
    /// ## When the next host is tried
    ///
    /// ```swift
    /// let provider = SystemProvider().failingOver(to: [main, mirror]).retrying()
    /// ```
    ///
    /// - The next host is tried for every method if the connection cannot be made or the host's circuit is open. If an
    ///   inner retrying provider has made several attempts, each of its attempts must have failed in this way.
    /// - For idempotent requests only, the next host is also tried after a lost or stalled connection, a timed-out
    ///   attempt, or status 500, 502, 503 or 504.
    /// - A request whose body cannot be sent again is never repeated. For a stream, only the head decides.
    ///
    /// ## The moved request
    ///
    /// Scheme, host and port are replaced. Path and query are kept. User info and a `Host` field are removed.
    ///
    /// ## Credentials
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .failingOver(to: [main, mirror], credentials: .connection(and: mirror))
    ///     .retrying()
    /// ```
    ///
    /// - Inner wrappers treat a host within `credentials` as the connection's own host. They add no secrets for other
    ///   hosts.
    /// - A host outside `credentials` is skipped if the request has a body, or has a secret in a field, a cookie, a
    ///   query item or the user info. So such a host never refuses a request because a credential is missing.
    /// - A request that refreshes a credential (``/ApiConnector/RefreshableCredentials``) is sent to its own host only.
    ///
    /// - Parameters:
    ///   - hosts: The URLs of the hosts, including the connection's own; only scheme, host and port are used.
    ///   - duration: How long a failed host is tried last; 1 minute by default.
    ///   - credentials: The hosts that may get credentials and bodies; the connection's own by default.
    public func failingOver(
        to hosts: [URL],
        for duration: Duration = .seconds(60),
        credentials: CredentialScope = .connection
    ) -> some DataRequestType {
        Failover(self, FailoverHosts(hosts, duration), credentials)
    }
}

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

/// The hosts of a failover, and which of them failed recently.
final class FailoverHosts: Sendable {
    private let origins: [HTTPOrigin]
    private let duration: Duration
    /// When a failed host returns to its normal position.
    private let failing = Protected<[HTTPOrigin: Duration]>([:])

    init(_ urls: [URL], _ duration: Duration) {
        var seen: Set<HTTPOrigin> = []
        origins = urls.compactMap { HTTPOrigin($0) }.filter { seen.insert($0).inserted }
        self.duration = duration.bounded
    }

    /// The order of hosts for a request; nil if the request's own host is not one of them.
    func order(from own: HTTPOrigin, now: Duration) -> [HTTPOrigin]? {
        guard origins.contains(own) else { return nil }
        let failing = failing.withLock { $0 }
        let order = [own] + origins.filter { $0 != own }
        guard !failing.isEmpty else { return order }
        let isFailing = { (origin: HTTPOrigin) in failing[origin].map { $0 > now } ?? false }
        return order.filter { !isFailing($0) } + order.filter(isFailing)
    }

    func note(_ origin: HTTPOrigin, isFailing: Bool, now: Duration) {
        failing.withLock { $0[origin] = isFailing ? now + duration : nil }
    }
}
