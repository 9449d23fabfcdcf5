// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// RFC 9111 and RFC 5861 row by row: a response, a later request, and the cache's decision.
struct CacheRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status: HTTPStatus
        let response: HTTPHeaders
        let request: HTTPHeaders
        let age: Double
        let use: CacheUse
        let method: HTTPMethod
        let hasCredentials: Bool
        let expected: String

        init(
            _ name: String,
            _ response: HTTPHeaders,
            status: HTTPStatus = 200,
            after age: Double = 0,
            asking request: HTTPHeaders = HTTPHeaders(),
            use: CacheUse = .standard,
            method: HTTPMethod = .get,
            credentials: Bool = false,
            _ expected: String
        ) {
            (testDescription, self.response, self.status, self.age) = (name, response, status, age)
            (self.request, self.use, self.method, hasCredentials) = (request, use, method, credentials)
            self.expected = expected
        }
    }

    static let start = Date(timeIntervalSince1970: 1_767_225_600)
    static let now = "Thu, 01 Jan 2026 00:00:00 GMT"
    static let minuteBefore = "Wed, 31 Dec 2025 23:59:00 GMT"
    static let minuteAfter = "Thu, 01 Jan 2026 00:01:00 GMT"
    /// 1,000 seconds before.
    static let longBefore = "Wed, 31 Dec 2025 23:43:20 GMT"
    static let yearBefore = "Wed, 01 Jan 2025 00:00:00 GMT"

    static func control(_ value: String, _ others: HTTPHeaders = HTTPHeaders()) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Cache-Control": value]
        for field in others { headers.append(field.name, field.value) }
        return headers
    }

    static let freshness: [Row] = [
        Row("max-age", control("max-age=60"), after: 59, "serve fresh"),
        Row("max-age is over", control("max-age=60"), after: 60, "validate"),
        Row("max-age in quotes", control("max-age=\"60\""), after: 59, "serve fresh"),
        Row("max-age in capitals", control("MAX-AGE=60"), after: 59, "serve fresh"),
        Row("max-age of 0 with a tag", control("max-age=0", ["ETag": "\"a\""]), "validate"),
        Row("max-age of 0 without a validator", control("max-age=0"), "not stored"),
        Row("an endless max-age", control("max-age=99999999999999999999"), after: 1e9, "serve fresh"),
        Row("max-age below 0", control("max-age=-1", ["ETag": "\"a\""]), "validate"),
        Row("max-age with a fraction", control("max-age=1.5", ["ETag": "\"a\""]), "validate"),
        Row("max-age without a number", control("max-age", ["ETag": "\"a\""]), "validate"),
        Row("max-age twice, the same", control("max-age=60, max-age=60"), after: 59, "serve fresh"),
        Row("max-age twice, differing", control("max-age=60, max-age=90", ["ETag": "\"a\""]), "validate"),
        Row(
            "max-age in two fields, differing",
            control("max-age=60", ["Cache-Control": "max-age=1", "ETag": "\"a\""]),
            "validate"
        ),
        Row("max-age before Expires", control("max-age=60", ["Expires": yearBefore]), after: 59, "serve fresh"),
        Row("s-maxage is for shared caches", control("s-maxage=60", ["ETag": "\"a\""]), "validate"),
        Row("s-maxage does not shorten", control("s-maxage=0, max-age=60"), after: 59, "serve fresh"),
        Row("Expires", ["Expires": minuteAfter, "Date": now], after: 59, "serve fresh"),
        Row("Expires is over", ["Expires": minuteAfter, "Date": now, "ETag": "\"a\""], after: 60, "validate"),
        Row("Expires without a date", ["Expires": minuteAfter], after: 59, "serve fresh"),
        Row("Expires by the server's clock", ["Expires": now, "Date": minuteBefore, "ETag": "\"a\""], "validate"),
        Row("Expires of 0", ["Expires": "0", "ETag": "\"a\""], "validate"),
        Row("Expires that is no date", ["Expires": "tomorrow", "ETag": "\"a\""], "validate"),
        Row(
            "Expires twice, differing",
            ["Expires": minuteAfter, "Expires": "Fri, 02 Jan 2026 00:00:00 GMT", "ETag": "\"a\""],
            "validate"
        ),
        Row("Expires beside a garbled date", ["Expires": minuteAfter, "Date": "now", "ETag": "\"a\""], "validate"),
        Row("a tenth of the time unchanged", ["Last-Modified": longBefore, "Date": now], after: 99, "serve fresh"),
        Row("more than a tenth", ["Last-Modified": longBefore, "Date": now], after: 100, "validate"),
        Row("a day at most", ["Last-Modified": yearBefore, "Date": now], after: 86_401, "validate"),
        Row("a change to come", ["Last-Modified": minuteAfter, "Date": now], "validate"),
        Row("a change at no date", ["Last-Modified": "once", "Date": now], "validate"),
        Row("heuristics of a 404", ["Last-Modified": longBefore], status: 404, after: 99, "serve fresh"),
        Row("no heuristics of a 302", ["Last-Modified": longBefore], status: 302, "not stored"),
        Row("a public 302", control("public", ["Last-Modified": longBefore]), status: 302, after: 99, "serve fresh"),
        Row("nothing said", ["Content-Type": "text/plain"], "not stored"),
        Row("nothing but a tag", ["ETag": "\"a\""], "validate"),
    ]

    static let ages: [Row] = [
        Row("an age on arrival", control("max-age=60", ["Age": "30"]), after: 29, "serve fresh"),
        Row("an age on arrival uses up", control("max-age=60", ["Age": "30"]), after: 30, "validate"),
        Row("an age that is no number", control("max-age=60", ["Age": "old"]), after: 59, "serve fresh"),
        Row("the first of several ages", control("max-age=60", ["Age": "30, 0"]), after: 30, "validate"),
        Row("an endless age", control("max-age=60", ["Age": "99999999999999999999"]), "validate"),
        Row("a date that is a minute old", control("max-age=90", ["Date": minuteBefore]), after: 30, "validate"),
        Row(
            "the older of age and date",
            control("max-age=90", ["Date": minuteBefore, "Age": "1"]),
            after: 29,
            "serve fresh"
        ),
        Row("a date to come", control("max-age=60", ["Date": minuteAfter]), after: 59, "serve fresh"),
        Row("a clock that was set back", control("max-age=60"), after: -1, "validate"),
    ]

    static let storing: [Row] = [
        Row("no-store", control("max-age=60, no-store"), "not stored"),
        Row("no-store in capitals", control("max-age=60, No-Store"), "not stored"),
        Row("no-store in another field", control("max-age=60", ["Cache-Control": "no-store"]), "not stored"),
        Row("no-store with an argument", control("max-age=60, no-store=1"), "not stored"),
        Row("no-store after a semicolon", control("max-age=60; no-store"), "not stored"),
        Row("no-store within quotes is another's", control("max-age=60, x=\"no-store\""), "serve fresh"),
        Row("a quote that does not end", control("x=\"a, max-age=60, no-store"), "not stored"),
        Row("private: this cache is one", control("private, max-age=60"), "serve fresh"),
        Row("private with fields", control("private=\"X-A\", max-age=60"), "serve fresh"),
        Row("must-understand of a known status", control("must-understand, no-store, max-age=60"), "serve fresh"),
        Row("must-understand of an unknown", control("must-understand, max-age=60"), status: 299, "not stored"),
        Row("an unknown status that may be kept", control("max-age=60"), status: 299, "serve fresh"),
        Row("a part", control("max-age=60"), status: 206, "not stored"),
        Row("not modified", control("max-age=60"), status: 304, "not stored"),
        Row("informational", control("max-age=60"), status: 103, "not stored"),
        Row("beyond all statuses", control("max-age=60"), status: 999, "not stored"),
        Row("an error that may be kept", control("max-age=60"), status: 503, "serve fresh"),
        Row("Vary: *", control("max-age=60", ["Vary": "*"]), "not stored"),
        Row("Vary with * among others", control("max-age=60", ["Vary": "Accept, *"]), "not stored"),
        Row("Vary that is garbled", control("max-age=60", ["Vary": "a b"]), "not stored"),
        Row("credentials", control("max-age=60"), credentials: true, "not stored"),
        Row("credentials and public", control("public, max-age=60"), credentials: true, "serve fresh"),
        Row("credentials and private", control("private, max-age=60"), credentials: true, "serve fresh"),
        Row(
            "credentials and must-revalidate",
            control("must-revalidate, max-age=60"),
            credentials: true,
            "serve fresh"
        ),
        Row("credentials and s-maxage", control("s-maxage=9, max-age=60"), credentials: true, "serve fresh"),
        Row("the answer to a HEAD", control("max-age=60"), method: .head, "not stored"),
        Row("the answer to a POST", control("max-age=60"), method: .post, "not stored"),
    ]

    static let asking: [Row] = [
        Row("no-cache asked", control("max-age=60"), asking: control("no-cache"), "validate"),
        Row("Pragma asked", control("max-age=60"), asking: ["Pragma": "no-cache"], "validate"),
        Row(
            "Pragma beside Cache-Control",
            control("max-age=60"),
            asking: control("max-age=60", ["Pragma": "no-cache"]),
            "serve fresh"
        ),
        Row("max-age asked", control("max-age=60"), after: 10, asking: control("max-age=10"), "serve fresh"),
        Row("a lower max-age asked", control("max-age=60"), after: 10, asking: control("max-age=9"), "validate"),
        Row("a garbled max-age asked", control("max-age=60"), after: 1, asking: control("max-age=x"), "validate"),
        Row("min-fresh asked", control("max-age=60"), after: 50, asking: control("min-fresh=10"), "serve fresh"),
        Row("more min-fresh asked", control("max-age=60"), after: 51, asking: control("min-fresh=10"), "validate"),
        Row("a garbled min-fresh asked", control("max-age=60"), asking: control("min-fresh"), "validate"),
        Row("max-stale asked", control("max-age=60"), after: 1e6, asking: control("max-stale"), "serve stale"),
        Row(
            "so much max-stale asked",
            control("max-age=60"),
            after: 70,
            asking: control("max-stale=10"),
            "serve stale"
        ),
        Row(
            "too little max-stale asked",
            control("max-age=60"),
            after: 71,
            asking: control("max-stale=10"),
            "validate"
        ),
        Row("a garbled max-stale asked", control("max-age=60"), after: 61, asking: control("max-stale=x"), "validate"),
        Row(
            "max-stale of what must be revalidated",
            control("max-age=60, must-revalidate"),
            after: 61,
            asking: control("max-stale"),
            "validate"
        ),
        Row(
            "max-stale, and max-age asked",
            control("max-age=60"),
            after: 70,
            asking: control("max-stale=30, max-age=65"),
            "validate"
        ),
        Row(
            "max-stale, and a garbled max-age asked",
            control("max-age=0", ["ETag": "\"1\""]),
            after: 1,
            asking: control("max-stale, max-age=x"),
            "validate"
        ),
        Row("only-if-cached of what is fresh", control("max-age=60"), asking: control("only-if-cached"), "serve fresh"),
        Row(
            "only-if-cached of what is stale",
            control("max-age=60"),
            after: 60,
            asking: control("only-if-cached"),
            "refuse"
        ),
        Row(
            "only-if-cached with max-stale",
            control("max-age=60"),
            after: 60,
            asking: control("only-if-cached, max-stale"),
            "serve stale"
        ),
        Row("the call wants it fresh", control("max-age=60"), use: .reload, "validate"),
        Row("the call wants it cached", control("max-age=60"), use: .cached, "serve fresh"),
        Row("the call wants it cached, however old", control("max-age=60"), after: 1e8, use: .cached, "serve stale"),
        Row("cached, but never stale", control("max-age=60, must-revalidate"), after: 60, use: .cached, "refuse"),
        Row("cached, but never unasked", control("max-age=60, no-cache"), use: .cached, "refuse"),
    ]

    static let leaves: [Row] = [
        Row("no-cache", control("no-cache, max-age=60"), "validate"),
        Row("no-cache with fields", control("no-cache=\"Set-Cookie, X\", max-age=60"), "validate"),
        Row("no-cache within a garbled part", control("max-age=60, x y no-cache"), "validate"),
        Row("must-revalidate while fresh", control("must-revalidate, max-age=60"), after: 59, "serve fresh"),
        Row(
            "immutable, and reloaded",
            control("max-age=60, immutable"),
            after: 9,
            asking: control("max-age=0"),
            "serve fresh"
        ),
        Row(
            "immutable, but old",
            control("max-age=60, immutable"),
            after: 60,
            asking: control("max-age=0"),
            "validate"
        ),
        Row("immutable, but no-cache", control("max-age=60, immutable"), asking: control("no-cache"), "validate"),
        Row(
            "stale while revalidating",
            control("max-age=60, stale-while-revalidate=30"),
            after: 90,
            "serve and renew"
        ),
        Row("too stale for that", control("max-age=60, stale-while-revalidate=30"), after: 91, "validate"),
        Row("a garbled time for that", control("max-age=60, stale-while-revalidate=x"), after: 61, "validate"),
        Row(
            "not what must be revalidated",
            control("max-age=60, must-revalidate, stale-while-revalidate=30"),
            after: 61,
            "validate"
        ),
        Row(
            "not for a request with a lower max-age",
            control("max-age=60, stale-while-revalidate=30"),
            after: 61,
            asking: control("max-age=60"),
            "validate"
        ),
    ]

    @Test(arguments: freshness + ages + storing + asking + leaves) func decidesAsTheRFCsSay(_ row: Row) throws {
        #expect(Self.decision(row) == row.expected)
    }

    @Test func theTableIsLong() {
        #expect((Self.freshness + Self.ages + Self.storing + Self.asking + Self.leaves).count >= 60)
    }

    private static func decision(_ row: Row) -> String {
        var request = ApiRequest(url: URL(filePath: "/"), method: row.method)
        let stored = StoredResponse(
            status: row.status,
            headers: row.response,
            body: Data(),
            requestDate: start,
            responseDate: start
        )
        guard CacheRules.varyingNames(row.response) != nil,
            CacheRules.mayStore(stored, to: request, hasCredentials: row.hasCredentials)
        else { return "not stored" }
        request.headers = row.request
        request.cacheUse = row.use
        return text(CacheRules.decide(on: request, stored: stored, at: start.addingTimeInterval(row.age)))
    }

    private static func text(_ decision: CacheRules.Decision) -> String {
        switch decision {
        case .serve(let hit): "serve \(hit)"
        case .serveAndRenew: "serve and renew"
        case .validate: "validate"
        case .send: "send"
        case .refuse: "refuse"
        }
    }

    @Test func sendsOrRefusesARequestWithoutAStoredResponse() {
        var request = ApiRequest(url: URL(filePath: "/"))
        #expect(CacheRules.decide(on: request, stored: nil, at: Self.start) == .send)
        request.headers = Self.control("only-if-cached")
        #expect(CacheRules.decide(on: request, stored: nil, at: Self.start) == .refuse)
        request.headers = HTTPHeaders()
        request.cacheUse = .cached
        #expect(CacheRules.decide(on: request, stored: nil, at: Self.start) == .refuse)
        request.cacheUse = .reload
        #expect(CacheRules.decide(on: request, stored: nil, at: Self.start) == .send)
    }

    static let failures: [(HTTPHeaders, HTTPHeaders, Double, Bool)] = [
        (control("max-age=60, stale-if-error=30"), HTTPHeaders(), 90, true),
        (control("max-age=60, stale-if-error=30"), HTTPHeaders(), 91, false),
        (control("max-age=60"), control("stale-if-error=30"), 90, true),
        (control("max-age=60, stale-if-error=5"), control("stale-if-error=30"), 90, true),
        (control("max-age=60"), HTTPHeaders(), 61, false),
        (control("max-age=60, stale-if-error=x"), HTTPHeaders(), 61, false),
        (control("max-age=60, must-revalidate, stale-if-error=30"), HTTPHeaders(), 61, false),
        (control("max-age=60, no-cache, stale-if-error=30"), HTTPHeaders(), 61, false),
        (control("max-age=60, stale-if-error=30"), control("no-cache"), 61, false),
    ]

    @Test(arguments: failures.indices) func servesAStaleResponseAfterAFailureIfAllowed(_ index: Int) {
        let (response, asked, age, expected) = Self.failures[index]
        let stored = StoredResponse(
            status: 200,
            headers: response,
            body: Data(),
            requestDate: Self.start,
            responseDate: Self.start
        )
        let request = ApiRequest(url: URL(filePath: "/"), headers: asked)
        let date = Self.start.addingTimeInterval(age)
        #expect(CacheRules.mayServeStale(stored, to: request, at: date) == expected)
    }

    @Test func trapsOnNoInput() {
        let pieces = [
            "max-age", "=", "\"", ",", ";", "no-store", "-1", "9", "99999999999999999999", " ", "\t", "é", "*",
        ]
        var random = SplitMix64.printed()
        for _ in 0..<SplitMix64.caseCount {
            func text() -> String {
                (0..<Int.random(in: 0..<9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined()
            }
            var headers: HTTPHeaders = ["Cache-Control": text(), "Age": text(), "Expires": text(), "Vary": text()]
            headers.append("Date", text())
            headers.append("Last-Modified", text())
            let stored = StoredResponse(
                status: HTTPStatus(rawValue: Int.random(in: -5...1000, using: &random)),
                headers: headers,
                body: Data(),
                requestDate: Self.start,
                responseDate: Self.start
            )
            let request = ApiRequest(url: URL(filePath: "/"), headers: ["Cache-Control": text()])
            let date = Self.start.addingTimeInterval(Double.random(in: -1e9...1e9, using: &random))
            _ = CacheRules.mayStore(stored, to: request, hasCredentials: Bool.random(using: &random))
            let decision = CacheRules.decide(on: request, stored: stored, at: date)
            // A forbidding word is heeded wherever it stands outside quotes.
            if headers["Cache-Control"] == "no-store" {
                #expect(!CacheRules.mayStore(stored, to: request, hasCredentials: false))
            }
            if case .serve(.fresh) = decision { #expect(CacheFreshness(of: stored, at: date).isFresh) }
        }
    }
}
