// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that has requests wait for their turn; made by ``ApiConnector/DataRequestType/limiting(_:by:)``.
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

    /// How many requests wait.
    var waiterCount: Int { lanes.waiterCount }

    /// How many requests have a place.
    var inFlightCount: Int { lanes.inFlightCount }

    /// How many hosts and classes are kept in mind.
    var laneCount: Int { lanes.count }

    /// Sends the request when its turn has come.
    ///
    /// - Throws: What the wrapped provider throws, and ``/ApiConnector/ApiConnectorError`` of kind `.deadlineExceeded` as
    ///   soon as it is known that the turn would come too late; of kind `.cancelled`, and at once, when the task is
    ///   canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // Calls that hold their places may wait for it.
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
    /// This provider, with a limit on how much it asks each host: by number at the same time, by rate, and by what the
    /// host itself says.
    ///
    /// Requests above the limit wait: those of a higher ``/ApiConnector/CallOptions/priority`` first, and within one priority
    /// in the order in which they came. A wait counts for the call's deadline and for no limit of an attempt; a call that
    /// cannot start before its deadline fails at once, and so does one that is canceled. A request that belongs to the
    /// refresh of a credential (``/ApiConnector/RefreshableCredentials``) does not wait.
    ///
    /// A 429 or 503 with `Retry-After` holds back all that share the limit, and so does a `RateLimit` field (the IETF's
    /// draft-ietf-httpapi-ratelimit-headers, old forms too) or its `X-RateLimit-` forerunners, when nothing is left.
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .limiting(RequestLimit(concurrent: 6))
    ///     .limiting(RequestLimit(rate: RequestRate(2, per: .seconds(1)))) { $0.routeName == "search" ? "search" : nil }
    ///     .retrying()
    /// ```
    ///
    /// - Parameters:
    ///   - limit: How much.
    ///   - routeClass: Names the class of routes whose requests to one host share the limit; those for which it is nil
    ///     are not limited. One for all by default. It is called for each request, and should name few classes.
    public func limiting(
        _ limit: RequestLimit,
        by routeClass: @escaping @Sendable (ApiRequest) -> String? = { _ in "" }
    ) -> some DataRequestType {
        Limited(self, limit, by: routeClass)
    }
}

extension DataRequestType {
    /// This provider, limited as by ``limiting(_:by:)``, with a rate that several instances share.
    ///
    /// The limit's rate is that of all instances together. What a server's `Retry-After` and `RateLimit` fields ask for holds
    /// back all of them. A limit on concurrent requests is each instance's own.
    ///
    /// ```swift
    /// let provider = SystemProvider().limiting(
    ///     RequestLimit(rate: RequestRate(100, per: .seconds(1), burstCount: 20)),
    ///     sharedAs: SharedLimit(named: "search", in: state)
    /// )
    /// ```
    ///
    /// - A call waits for the shared state only if its instance has no token left, and never beyond its deadline.
    /// - While the shared state is unavailable, each instance uses its share of the rate, and asks again after a second, then
    ///   after twice that time, up to half a minute. Each call meanwhile reports the event
    ///   `custom("sharedStateUnavailable")`.
    ///
    /// - Parameters:
    ///   - limit: How much, for all instances together.
    ///   - shared: Where the tokens are, and how they are taken.
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
