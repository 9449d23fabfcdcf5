// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What a private cache does, by RFC 9111 and RFC 5861: functions of a request, what is stored, and the date; no
/// storage, no clock.
enum CacheRules {
    /// What becomes of a request.
    enum Decision: Equatable {
        /// It is answered by what is stored.
        case serve(CacheHit)
        /// It is answered by what is stored, which is asked for again behind it (RFC 5861, section 3).
        case serveAndRenew
        /// The server is asked whether what is stored is still good, or for another one.
        case validate
        /// The server is asked as if there were nothing.
        case send
        /// It is not answered: nothing that may be used is stored, and it is not to be sent.
        case refuse
    }

    /// Section 4: whether and how what is stored for a request answers it.
    ///
    /// - Parameter stored: What the request selects; nil for nothing.
    static func decide(on request: ApiRequest, stored: StoredResponse?, at now: Date) -> Decision {
        let asked = CacheDirectives(request.headers)
        let mayBeSent = request.cacheUse != .cached && !asked.has("only-if-cached")
        guard let stored else { return mayBeSent ? .send : .refuse }
        if request.cacheUse == .reload { return .validate }
        let answer = judge(stored, asked, request.cacheUse, CacheFreshness(of: stored, at: now))
        return answer ?? (mayBeSent ? .validate : .refuse)
    }

    /// What serves a request without a word from the server; nil where there has to be one.
    private static func judge(
        _ stored: StoredResponse,
        _ asked: CacheDirectives,
        _ use: CacheUse,
        _ freshness: CacheFreshness
    ) -> Decision? {
        let given = stored.directives
        // Section 5.2.2.4; with the names of fields, too, which says no less that the server is to be asked.
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

    /// Section 5.2.1: whether something fresh is as fresh as the request wants it.
    private static func satisfies(_ asked: CacheDirectives, _ freshness: CacheFreshness, isImmutable: Bool) -> Bool {
        let isYoung = asked.seconds("max-age", garbled: 0).map { freshness.age <= Double($0) } ?? true
        let isLasting =
            asked.seconds("min-fresh", garbled: .max).map { freshness.lifetime - freshness.age >= Double($0) } ?? true
        // RFC 8246: what never changes is not asked for again by a mere reload.
        return (isYoung || isImmutable) && isLasting
    }

    /// RFC 5861, section 4: whether what is stored answers a request that the server has failed to answer.
    static func mayServeStale(_ stored: StoredResponse, to request: ApiRequest, at now: Date) -> Bool {
        let (asked, given) = (CacheDirectives(request.headers), stored.directives)
        guard request.cacheUse != .reload, !asked.has("no-cache"), !asked.has("min-fresh"),
            !given.has("no-cache"), !given.has("must-revalidate")
        else { return false }
        let allowed = [asked, given].compactMap { $0.seconds("stale-if-error", garbled: nil) }.max()
        return allowed.map { CacheFreshness(of: stored, at: now).staleness <= Double($0) } ?? false
    }

    /// RFC 5861, section 4: the statuses that are such a failure.
    static let failureStatuses: Set<HTTPStatus> = [500, 502, 503, 504]

    /// The failures without a status that are one.
    static let failureKinds = CircuitPolicy.standardKinds.union([.circuitOpen])
}
