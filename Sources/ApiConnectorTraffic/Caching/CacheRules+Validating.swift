// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
