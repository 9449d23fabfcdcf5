// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A stored response, with the data that decides for whom and until when it is valid.
///
/// The header fields are parsed once, when the value is made.
struct StoredResponse: Sendable, Hashable {
    let status: HTTPStatus

    /// The header fields, without those that are never stored: see ``CacheRules/keptFields(of:redactor:)``.
    let headers: HTTPHeaders
    var body: Data

    /// When the request for it was sent, by this machine's clock.
    let requestDate: Date

    /// When its head arrived.
    let responseDate: Date

    /// A digest of the request's credential; empty if it had none.
    let credential: Data

    /// A digest of the request's fields that its `Vary` names.
    var selection: Data

    /// The directives of its `Cache-Control`.
    let directives: CacheDirectives

    /// The names in its `Vary`; nil if no later request matches.
    let varyingNames: [HTTPHeaders.Name]?

    /// Its freshness lifetime in seconds (RFC 9111, section 4.2.1).
    fileprivate let lifetime: Double

    /// Its `Date`; nil if it has none.
    fileprivate let date: Date?

    /// Its `Age` (section 5.1): the first member of the field; 0 if it is not a number.
    fileprivate let ageValue: Int64

    init(
        status: HTTPStatus,
        headers: HTTPHeaders,
        body: Data,
        requestDate: Date,
        responseDate: Date,
        credential: Data = Data(),
        selection: Data = Data()
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.requestDate = requestDate
        self.responseDate = responseDate
        self.credential = credential
        self.selection = selection
        directives = CacheDirectives(headers)
        varyingNames = CacheRules.varyingNames(headers)
        date = headers.date("Date", now: responseDate)
        let age = headers["Age"]?.prefix { $0 != "," }
        ageValue = age?.trimmingCharacters(in: .whitespaces).deltaSeconds ?? 0
        lifetime = Self.lifetime(status, headers, directives, date: date, responseDate)
    }

    /// A private cache ignores `s-maxage`.
    private static func lifetime(
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ directives: CacheDirectives,
        date: Date?,
        _ responseDate: Date
    ) -> Double {
        if let seconds = directives.seconds("max-age", garbled: 0) { return Double(seconds) }
        let isDateGarbled = headers.contains("Date") && (date == nil || headers.values("Date").count > 1)
        let expires = headers.values("Expires")
        guard expires.isEmpty else {
            // An invalid date, such as 0, means expired (section 5.3); so do several different dates.
            guard Set(expires).count == 1, let expiry = headers.date("Expires", now: responseDate) else { return 0 }
            return isDateGarbled ? 0 : expiry.timeIntervalSince(date ?? responseDate)
        }
        // Section 4.2.2: without a lifetime from the server, a tenth of the time since the last modification.
        guard CacheRules.heuristicStatuses.contains(status) || directives.has("public"), !isDateGarbled,
            let changed = headers.date(.lastModified, now: responseDate)
        else { return 0 }
        return FreshnessArithmetic.heuristicLifetime(
            generated: (date ?? responseDate).timeIntervalSince1970,
            lastModified: changed.timeIntervalSince1970
        )
    }
}

/// The age and the freshness lifetime of a stored response (RFC 9111, section 4.2).
struct CacheFreshness: Hashable {
    /// The freshness lifetime in seconds.
    let lifetime: Double

    /// The age in seconds, never estimated too low (section 4.2.3).
    let age: Double

    init(of stored: StoredResponse, at now: Date) {
        lifetime = stored.lifetime
        age = FreshnessArithmetic.age(
            now: now.timeIntervalSince1970,
            requested: stored.requestDate.timeIntervalSince1970,
            received: stored.responseDate.timeIntervalSince1970,
            generated: stored.date?.timeIntervalSince1970,
            ageValue: stored.ageValue
        )
    }

    /// Section 4.2: a response is fresh as long as its lifetime is greater than its age.
    var isFresh: Bool { lifetime > age }

    /// The seconds since it became stale; 0 while it is fresh.
    var staleness: Double { max(0, age - lifetime) }

    /// The value of the `Age` field, in whole seconds.
    var ageField: String { FreshnessArithmetic.field(age: age) }
}
