// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The rules of a private cache by RFC 9111 and RFC 5861, as functions of a request, a stored response and the date.
enum CacheRules {
    /// How a request is handled.
    enum Decision: Equatable {
        /// A cache hit: the stored response is returned.
        case serve(CacheHit)
        /// The stale response is returned, and is revalidated in the background (RFC 5861, section 3).
        case serveAndRenew
        /// The stored response is revalidated with the server.
        case validate
        /// The request is sent without a condition.
        case send
        /// The request fails: no usable response is stored, and the request must not be sent.
        case refuse
    }

    /// Section 4: whether and how a stored response answers a request.
    ///
    /// - Parameter stored: The stored response that the request selects; nil if there is none.
    static func decide(on request: ApiRequest, stored: StoredResponse?, at now: Date) -> Decision {
        let asked = CacheDirectives(request.headers)
        let use = request.cacheUse
        let mayBeSent = use != .cached && !asked.has("only-if-cached")
        guard let stored else { return mayBeSent ? .send : .refuse }
        if use == .reload { return .validate }
        let answer = judge(stored, asked, use, CacheFreshness(of: stored, at: now))
        return answer ?? (mayBeSent ? .validate : .refuse)
    }

    /// The decision to answer a request without the server; nil if the server is needed.
    private static func judge(
        _ stored: StoredResponse,
        _ asked: CacheDirectives,
        _ use: CacheUse,
        _ freshness: CacheFreshness
    ) -> Decision? {
        let given = stored.directives
        // Section 5.2.2.4. `no-cache` with field names also requires revalidation.
        guard !given.has("no-cache"), !asked.has("no-cache") else { return nil }
        if freshness.isFresh, satisfies(asked, freshness, isImmutable: given.has("immutable")) { return .serve(.fresh) }
        // Section 4.2.4, and 5.2.2.2; `proxy-revalidate` is for shared caches.
        guard !given.has("must-revalidate"), !asked.has("min-fresh") else { return nil }
        if use == .cached { return .serve(freshness.isFresh ? .fresh : .stale) }
        if let oldest = asked.seconds("max-age", garbled: 0), freshness.age > Double(oldest) { return nil }
        if asked.isBare("max-stale") { return .serve(.stale) }
        if let allowed = asked.seconds("max-stale", garbled: nil), freshness.staleness <= Double(allowed) {
            return .serve(.stale)
        }
        guard let allowed = given.seconds("stale-while-revalidate", garbled: nil),
            freshness.staleness <= Double(allowed)
        else { return nil }
        return asked.has("only-if-cached") ? .serve(.stale) : .serveAndRenew
    }

    /// Section 5.2.1: whether a fresh response is fresh enough for the request.
    private static func satisfies(_ asked: CacheDirectives, _ freshness: CacheFreshness, isImmutable: Bool) -> Bool {
        let isYoung = asked.seconds("max-age", garbled: 0).map { freshness.age <= Double($0) } ?? true
        let isLasting =
            asked.seconds("min-fresh", garbled: .max).map { freshness.lifetime - freshness.age >= Double($0) } ?? true
        // RFC 8246: an immutable response is not revalidated by a reload.
        return (isYoung || isImmutable) && isLasting
    }

    /// RFC 5861, section 4: whether a stale response may answer a request after a failure.
    static func mayServeStale(_ stored: StoredResponse, to request: ApiRequest, at now: Date) -> Bool {
        let (asked, given) = (CacheDirectives(request.headers), stored.directives)
        guard request.cacheUse != .reload, !asked.has("no-cache"), !asked.has("min-fresh"),
            !given.has("no-cache"), !given.has("must-revalidate")
        else { return false }
        let allowed = [asked, given].compactMap { $0.seconds("stale-if-error", garbled: nil) }.max()
        return allowed.map { CacheFreshness(of: stored, at: now).staleness <= Double($0) } ?? false
    }

    /// RFC 5861, section 4: the statuses that count as such a failure.
    static let failureStatuses: Set<HTTPStatus> = [500, 502, 503, 504]

    /// The error kinds that count as such a failure.
    static let failureKinds = CircuitPolicy.standardKinds.union([.circuitOpen])
}
