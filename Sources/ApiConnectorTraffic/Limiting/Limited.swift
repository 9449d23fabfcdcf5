// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that limits requests per host; made by ``ApiConnector/DataRequestType/limiting(_:by:)``.
struct Limited<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let limit: RequestLimit
    private let routeClass: @Sendable (ApiRequest) -> String?
    private let lanes: LimitLanes

    init(
        _ wrapped: Wrapped,
        _ limit: RequestLimit,
        _ shared: SharedLimit? = nil,
        by routeClass: @escaping @Sendable (ApiRequest) -> String? = { _ in "" }
    ) {
        self.wrapped = wrapped
        self.limit = limit
        self.routeClass = routeClass
        lanes = LimitLanes(limit, shared)
    }

    /// The number of waiting requests.
    var waiterCount: Int { lanes.waiterCount }

    /// The number of requests in flight.
    var inFlightCount: Int { lanes.inFlightCount }

    /// The number of lanes: one per host and route class.
    var laneCount: Int { lanes.count }

    /// Sends the request when it is its turn.
    ///
    /// - Throws: The error of the wrapped provider. ``/ApiConnector/ApiConnectorError`` of kind `.deadlineExceeded` as
    ///   soon as the turn would come after the deadline; of kind `.cancelled`, immediately, if the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // Calls in flight may wait for the refresh.
        guard !request.isCredentialRefresh, let origin = HTTPOrigin(request.url), let name = routeClass(request) else {
            return try await wrapped.response(for: request)
        }
        let key = LimitLanes.Key(origin: origin, routeClass: name, scale: request.timeSource.scale)
        let slot = try await lanes.enter(key, request)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request).collectedIfWanted(by: request)
            let limits = ServerLimits(response, date: request.timeSource.date)
            slot.answer(limits.isThrottling ? .overload : .success, limit.heedsServer ? limits : nil)
            response.body = try response.body.transformed(onEnd: { _ in slot.release() })
            return response
        } catch {
            slot.answer(Self.overloadKinds.contains(error.kind) ? .overload : .unknown, nil)
            slot.release()
            throw error
        }
    }
}

extension Limited {
    /// Kinds of error that a server with too many requests causes.
    private static var overloadKinds: Set<ApiConnectorError.Kind> {
        [.timedOut, .stalled, .cannotConnect, .connectionLost]
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped with a request limit per host: concurrent requests, rate, and the server's own
    /// limits.
    ///
    /// - Requests above the limit wait. A higher ``/ApiConnector/CallOptions/priority`` starts first; within one
    /// priority, the order of arrival decides.
    /// - The wait counts for the call's deadline, but not for the timeouts of an attempt.
    /// - A call that cannot start before its deadline, or that is canceled, fails at once.
    /// - A request that belongs to the refresh of a credential (``/ApiConnector/RefreshableCredentials``) does not
    ///   wait.
    ///
    /// A 429 or 503 with `Retry-After` delays all requests that share the limit. So does a `RateLimit` field without
    /// remaining quota (the IETF's draft-ietf-httpapi-ratelimit-headers and its older forms), or its `X-RateLimit-`
    /// predecessors.
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
    ///   - routeClass: Returns the name of a request's route class. Requests of one class to one host share the limit;
    ///     nil means no limit. All requests are one class by default. The closure is called for each request, and
    ///     should return few names.
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
    /// The rate and the concurrency limit apply to all instances together. A server's `Retry-After` and `RateLimit` fields
    /// delay all of them, within ``SharedLimitPolicy/refreshInterval``. An adaptive concurrency limit applies to each
    /// instance separately, because it follows the server.
    ///
    /// ```swift
    /// let provider = SystemProvider().limiting(
    ///     RequestLimit(concurrent: 40, rate: RequestRate(100, per: .seconds(1), burstCount: 20)),
    ///     sharedAs: SharedLimit(named: "search", in: state)
    /// )
    /// ```
    ///
    /// - A call waits for the shared state only if its instance has no token or place left, and never beyond its deadline.
    /// - Places are leased, so that those of a process that is killed come back after 5 times
    ///   ``SharedLimitPolicy/refreshInterval``. If an instance cannot reach the shared state for as long, its requests in
    ///   flight go on, and other instances can use their places.
    /// - While the shared state is unavailable, each instance uses its share of the rate and of the places, and asks again
    ///   after a second, then after twice that time, up to half a minute. Each call meanwhile reports the event
    ///   `custom("sharedStateUnavailable")`.
    ///
    /// - Parameters:
    ///   - limit: The limit for all instances together.
    ///   - shared: The store of the tokens and places, and how they are taken.
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
