// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that limits requests per host; made by ``ApiConnector/DataRequestType/limiting(_:by:)``.
struct Limited<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let limit: RequestLimit
    private let routeClass: @Sendable (ApiRequest) -> String?
    private let queues: LimitQueues

    init(
        _ wrapped: Wrapped,
        _ limit: RequestLimit,
        _ shared: SharedLimit? = nil,
        by routeClass: @escaping @Sendable (ApiRequest) -> String? = { _ in "" }
    ) {
        self.wrapped = wrapped
        self.limit = limit
        self.routeClass = routeClass
        queues = LimitQueues(limit, shared)
    }

    /// The number of waiting requests.
    var waiterCount: Int { queues.waiterCount }

    /// The number of requests in flight.
    var inFlightCount: Int { queues.inFlightCount }

    /// The number of queues: one per host and route class.
    var queueCount: Int { queues.count }

    /// Sends the request when it is its turn.
    ///
    /// - Throws: The error of the wrapped provider. ``/ApiConnector/ApiConnectorError`` of kind `.deadlineExceeded` as
    ///   soon as the request cannot start before the deadline; of kind `.cancelled` as soon as the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // Calls that hold all slots may be waiting for the refresh.
        guard !request.isCredentialRefresh, let origin = HTTPOrigin(request.url), let name = routeClass(request) else {
            return try await wrapped.response(for: request)
        }
        let key = LimitQueues.Key(origin: origin, routeClass: name, scale: request.timeSource.scale)
        let slot = try await queues.enter(key, request)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request).collectedIfWanted(by: request)
            let limits = ServerLimits(response, date: request.timeSource.date)
            slot.answer(limits.isThrottling ? .overload : .success, limit.heedsServer ? limits : nil)
            response.body = try response.body.transformed(onEnd: { _ in slot.release() })
            if slot.wait > .zero { response.timesRecord = response.timesRecord?.adding(wait: slot.wait) }
            return response
        } catch {
            slot.answer(Self.overloadKinds.contains(error.kind) ? .overload : .unknown, nil)
            slot.release()
            var error = error
            if slot.wait > .zero { error.timesRecord = error.timesRecord?.adding(wait: slot.wait) }
            throw error
        }
    }
}

extension Limited {
    /// The kinds of error that an overloaded server causes.
    private static var overloadKinds: Set<ApiConnectorError.Kind> {
        [.timedOut, .stalled, .cannotConnect, .connectionLost]
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped with a limit on the requests to each host: concurrent requests, rate, and the
    /// server's own limits.
    ///
    /// - Requests above the limit wait. A higher ``/ApiConnector/CallOptions/priority`` starts first; within one
    /// priority, the order of arrival decides.
    /// - The wait counts toward the call's deadline, but not toward the timeouts of an attempt. It is part of
    ///   ``/ApiConnector/TransportTimes/Phase/waiting``.
    /// - A call that cannot start before its deadline, or that is canceled, fails at once.
    /// - A request that refreshes a credential (``/ApiConnector/RefreshableCredentials``) does not wait.
    ///
    /// A 403, 429 or 503 with `Retry-After` delays all requests that share the limit, but a 503 does not if another
    /// request succeeded while its request was in flight. A response that reports that the quota is used up delays them,
    /// too: in a `RateLimit` field (the IETF's draft-ietf-httpapi-ratelimit-headers and its older forms) or in
    /// `X-RateLimit-` fields.
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .limiting(RequestLimit(concurrent: 6))
    ///     .limiting(RequestLimit(rate: RequestRate(2, per: .seconds(1)))) { $0.routeName == "search" ? "search" : nil }
    ///     .retrying()
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The limit.
    ///   - routeClass: Returns the name of a request's route class; nil means no limit. The requests of one class to
    ///     one host share the limit. By default, all requests are in one class. The closure is called for each request,
    ///     and should return only a few different names.
    public func limiting(
        _ limit: RequestLimit,
        by routeClass: @escaping @Sendable (ApiRequest) -> String? = { _ in "" }
    ) -> some DataRequestType {
        Limited(self, limit, by: routeClass)
    }
}

extension DataRequestType {
    /// Returns this provider, limited as by ``limiting(_:by:)``, with limits that several instances share.
    ///
    /// The rate and the concurrency limit apply to all instances together. A server's `Retry-After` and `RateLimit`
    /// fields delay all of them after ``SharedLimitPolicy/refreshInterval`` at the latest. An adaptive concurrency
    /// limit applies to each instance separately, because it follows the server.
    ///
    /// ```swift
    /// let provider = SystemProvider().limiting(
    ///     RequestLimit(concurrent: 40, rate: RequestRate(100, per: .seconds(1), burstCount: 20)),
    ///     sharedAs: SharedLimit(named: "search", in: state)
    /// )
    /// ```
    ///
    /// - A call waits for the shared state only if its instance has no token or place left, and never beyond its
    ///   deadline.
    /// - An instance leases its places. The places of a killed process come back after 5 times
    ///   ``SharedLimitPolicy/refreshInterval``. If an instance cannot reach the shared state for that long, other
    ///   instances can use its places while its requests in flight continue.
    /// - While the shared state is unavailable, each instance uses its share of the rate and of the places. It tries
    ///   the shared state again after one second, and doubles this wait up to 30 seconds. Meanwhile each call reports
    ///   the event `custom("sharedStateUnavailable")`.
    ///
    /// - Parameters:
    ///   - limit: The limit for all instances together.
    ///   - shared: The shared state with the tokens and places, and how an instance takes them.
    ///   - routeClass: As in ``limiting(_:by:)``.
    public func limiting(
        _ limit: RequestLimit,
        sharedAs shared: SharedLimit,
        by routeClass: @escaping @Sendable (ApiRequest) -> String? = { _ in "" }
    ) -> some DataRequestType {
        Limited(self, limit, shared, by: routeClass)
    }
}

extension ServerLimits {
    fileprivate init(_ response: ApiResponse, date: Date) {
        self.init(response.headers, status: response.status, date: date)
    }
}
