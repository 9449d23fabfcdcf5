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

extension CacheRules {
    /// The statuses that may be stored without explicit freshness (section 4.2.2, and RFC 9110, section 15.1), except
    /// 206, which is a partial response.
    static let heuristicStatuses: Set<HTTPStatus> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The statuses whose caching rules are all implemented (section 5.2.2.3).
    private static let understoodStatuses = heuristicStatuses.union([302, 303, 307])

    /// Whether a request may be answered from the cache.
    ///
    /// Range requests and requests with the caller's own conditions bypass the cache.
    static func concerns(_ request: ApiRequest) -> Bool {
        guard request.method == .get || request.method == .head, request.body.isEmpty, request.headers.refused.isEmpty,
            !CacheDirectives(request.headers).has("no-store")
        else { return false }
        return !ownConditions.contains { request.headers.contains($0) }
    }

    private static let ownConditions: [HTTPHeaders.Name] = [
        .range, .ifRange, .ifNoneMatch, "If-Modified-Since", "If-Match", "If-Unmodified-Since",
    ]

    /// Whether the response to a request may be stored (section 3).
    ///
    /// - Parameter hasCredentials: Whether the request has credentials.
    static func mayStore(_ stored: StoredResponse, to request: ApiRequest, hasCredentials: Bool) -> Bool {
        let given = stored.directives
        let status = stored.status.rawValue
        guard request.method == .get, 200..<600 ~= status, status != 206, status != 304 else { return false }
        if given.has("must-understand") {
            // Section 5.2.2.3: `must-understand` comes with a `no-store` for caches that do not know it.
            guard understoodStatuses.contains(stored.status) else { return false }
        } else if given.has("no-store") {
            return false
        }
        guard stored.varyingNames != nil else { return false }
        // Section 3.5 requires this of shared caches; here it applies to each cache. `private` permits a private cache
        // (section 5.2.2.7).
        let allowsCredentials = ["public", "private", "must-revalidate", "s-maxage"].contains(where: given.has)
        if hasCredentials, !allowsCredentials { return false }
        let isExplicit = given.has("public") || given.has("private") || given.has("max-age")
        guard isExplicit || stored.headers.contains("Expires") || heuristicStatuses.contains(stored.status) else {
            return false
        }
        // A response that is never fresh and has no validator would only take space.
        let lifetime = CacheFreshness(of: stored, at: stored.responseDate).lifetime
        return lifetime > 0 || hasValidator(stored.headers) || allowsStale(given)
    }

    private static func allowsStale(_ given: CacheDirectives) -> Bool {
        given.has("stale-while-revalidate") || given.has("stale-if-error")
    }

    private static func hasValidator(_ headers: HTTPHeaders) -> Bool {
        headers.contains(.etag) || headers.contains(.lastModified)
    }

    /// Section 4.1: the names in `Vary`; nil for `*`, which no later request matches.
    static func varyingNames(_ headers: HTTPHeaders) -> [HTTPHeaders.Name]? {
        let names = headers.elements("Vary")
        guard names.allSatisfy({ $0 != "*" && $0.isToken }) else { return nil }
        return Set(names.map { $0.lowercased() }).sorted().map { HTTPHeaders.Name($0) }
    }

    /// The fields to store (section 3.1): all but the fields for one connection and the secret fields.
    ///
    /// So only the caller whose request was sent gets the cookies of the response.
    static func keptFields(of headers: HTTPHeaders, redactor: Redactor) -> HTTPHeaders {
        HTTPHeaders(fields: headers.filter { isKept($0.name, of: headers, redactor) })
    }

    static func isKept(_ name: HTTPHeaders.Name, of headers: HTTPHeaders, _ redactor: Redactor) -> Bool {
        let isForOneConnection =
            connectionFields.contains(name) || headers.elements("Connection").contains { HTTPHeaders.Name($0) == name }
        return !isForOneConnection && !redactor.isSecret(header: name)
    }

    /// Whether a field's value contains a secret, such as a URL with an `access_token`.
    static func holdsSecret(_ headers: HTTPHeaders, _ redactor: Redactor) -> Bool {
        headers.contains { redactor.redact($0.value, ofHeader: $0.name) != $0.value }
    }

    private static let connectionFields: Set<HTTPHeaders.Name> = [
        "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authentication-Info",
        .proxyAuthorization, "Authentication-Info", "TE", "Trailer", "Transfer-Encoding", "Upgrade", .setCookie,
        "Set-Cookie2", "Warning",
    ]
}

extension CacheRules {
    /// Section 4.3.1: the conditional request that revalidates a stored response; nil if the response has no validator.
    static func conditional(_ request: ApiRequest, on stored: StoredResponse) -> ApiRequest? {
        var conditional = request
        if let tag = stored.headers[.etag] { conditional.headers[.ifNoneMatch] = tag }
        if stored.headers.date(.lastModified, now: stored.responseDate) != nil {
            let date = stored.headers[.lastModified]
            conditional.headers["If-Modified-Since"] = date
        }
        return conditional.headers == request.headers ? nil : conditional
    }

    /// Section 4.3.4: whether a 304 confirms a stored response.
    static func confirms(_ headers: HTTPHeaders, _ stored: StoredResponse) -> Bool {
        if let tag = headers[.etag] {
            guard let own = stored.headers[.etag] else { return false }
            // Only one response was revalidated, so a weak comparison is enough.
            return tag.withoutWeakness == own.withoutWeakness
        }
        if let date = headers[.lastModified], let own = stored.headers[.lastModified] { return date == own }
        return true
    }

    /// Sections 3.2 and 4.3.4: a stored response, updated with the fields of a 304.
    static func updated(
        _ stored: StoredResponse,
        by headers: HTTPHeaders,
        requestDate: Date,
        responseDate: Date,
        redactor: Redactor
    ) -> StoredResponse {
        var fields = stored.headers
        // The `Age` of the old response does not apply to the new one.
        fields.remove("Age")
        // RFC 9110, section 6.6.1: without a `Date`, the arrival time counts; the old `Date` does not apply.
        fields.remove("Date")
        let news = headers.filter { isKept($0.name, of: headers, redactor) && !fieldsOfTheBody.contains($0.name) }
        fields.merge(HTTPHeaders(fields: news))
        return StoredResponse(
            status: stored.status,
            headers: fields,
            body: stored.body,
            requestDate: requestDate,
            responseDate: responseDate,
            credential: stored.credential,
            selection: stored.selection
        )
    }

    private static let fieldsOfTheBody: Set<HTTPHeaders.Name> = [
        .contentLength, .contentEncoding, .contentRange, "Content-MD5", "Content-Digest",
    ]

    /// Section 4.3.5: whether the response to a HEAD shows that a stored response is outdated.
    static func contradicts(_ headers: HTTPHeaders, _ stored: StoredResponse) -> Bool {
        [HTTPHeaders.Name.etag, .lastModified].contains { name in
            headers[name].map { $0 != stored.headers[name] } ?? false
        }
    }

    /// Section 4.4: the URLs whose stored responses become invalid.
    ///
    /// - Parameters:
    ///   - request: A request that may have changed something.
    ///   - response: Its response; nil if there was none, so that its effect is unknown.
    static func invalidated(by request: ApiRequest, answered response: (HTTPStatus, HTTPHeaders)?) -> [URL] {
        guard !request.method.isSafe else { return [] }
        guard let (status, headers) = response else { return [request.url] }
        guard status.isSuccess || status.isRedirection else { return [] }
        let others = [HTTPHeaders.Name.location, "Content-Location"].flatMap { headers.values($0) }
            .compactMap { URL(string: $0, relativeTo: request.url)?.absoluteURL.standardized }
            .filter { HTTPOrigin($0) != nil && HTTPOrigin($0) == HTTPOrigin(request.url) }
        return [request.url] + others
    }
}

extension String {
    /// An entity tag without its weakness mark, for a weak comparison (RFC 9110, section 8.8.3.2).
    fileprivate var withoutWeakness: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}

extension HTTPHeaders {
    /// Makes header fields from a list of fields.
    init(fields: [Field]) {
        self.init()
        for field in fields { append(field.name, field.value) }
    }
}
