// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
