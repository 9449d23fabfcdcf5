// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that asks another host where one does not answer; made by
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
    /// - Throws: What the wrapped provider throws for the last host that was asked.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // What a token is refreshed with is for its own host.
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
        // One at least was asked: its own.
        guard let last else { return try await wrapped.response(for: request) }
        return try last.result.get()
    }
}

extension DataRequestType {
    /// This provider, asking another host for the same path where one does not answer.
    ///
    /// The request's own host is asked first, the others in their order. One that fails is asked last for a while. A
    /// request to a host that is not among them is sent as it is.
    ///
    /// - The next host is asked after a failure to connect and for one whose circuit is open, whatever the method;
    ///   after a connection that broke or was silent too long, an attempt past its limit, and statuses 500, 502, 503
    ///   and 504, only where doing it twice is doing it once. Never with a body that cannot be sent again. A stream is
    ///   decided on by its head.
    /// - Scheme, host and port are replaced; path and query are kept, user info and a `Host` field are not.
    /// - A host that the scope admits is the connection's own for what wrappers inside add. To any other, a secret that a
    ///   wrapper adds does not go.
    /// - A host that the scope does not admit is asked only for what shows no secret, in a field, a cookie, a query
    ///   item or user info, and has no body; for anything else it is passed over. So it never refuses a credential for
    ///   not having seen it.
    /// - A request that belongs to the refresh of a credential (``/ApiConnector/RefreshableCredentials``) is sent to its own
    ///   host only.
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .failingOver(to: [main, mirror], credentials: .connection(and: mirror))
    ///     .retrying()
    /// ```
    ///
    /// - Parameters:
    ///   - hosts: URLs of the hosts, the connection's own among them; only scheme, host and port matter.
    ///   - duration: How long a host that failed is asked last; 1 minute by default.
    ///   - credentials: Which hosts may see credentials and bodies; the connection's own by default.
    public func failingOver(
        to hosts: [URL],
        for duration: Duration = .seconds(60),
        credentials: CredentialScope = .connection
    ) -> some DataRequestType {
        Failover(self, FailoverHosts(hosts, duration), credentials)
    }
}
