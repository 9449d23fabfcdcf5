// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A stored response, with the data that decides for whom and until when it is valid.
struct StoredResponse: Sendable, Hashable {
    var status: HTTPStatus

    /// The header fields, without those that are never stored: see ``CacheRules/keptFields(of:redactor:)``.
    var headers: HTTPHeaders
    var body: Data

    /// When the request for it was sent, by this machine's clock.
    var requestDate: Date

    /// When its head arrived.
    var responseDate: Date

    /// A digest of the request's credential; empty if it had none.
    var credential = Data()

    /// A digest of the request's fields that its `Vary` names.
    var selection = Data()

    var directives: CacheDirectives { CacheDirectives(headers) }
}

/// The age and the freshness lifetime of a stored response (RFC 9111, section 4.2).
struct CacheFreshness: Hashable {
    /// The freshness lifetime in seconds.
    let lifetime: Double

    /// The age in seconds, never estimated too low.
    let age: Double

    init(of stored: StoredResponse, at now: Date) {
        age = Self.age(of: stored, at: now)
        lifetime = Self.lifetime(of: stored)
    }

    /// Section 4.2: a response is fresh as long as its lifetime is greater than its age.
    var isFresh: Bool { lifetime > age }

    /// The seconds since it became stale; 0 while it is fresh.
    var staleness: Double { max(0, age - lifetime) }

    /// The value of the `Age` field, in whole seconds.
    var ageField: String { FreshnessArithmetic.field(age: age) }

    /// The age of a stored response (section 4.2.3).
    private static func age(of stored: StoredResponse, at now: Date) -> Double {
        FreshnessArithmetic.age(
            now: now.timeIntervalSince1970,
            requested: stored.requestDate.timeIntervalSince1970,
            received: stored.responseDate.timeIntervalSince1970,
            generated: stored.date?.timeIntervalSince1970,
            ageValue: stored.ageValue
        )
    }

    /// The freshness lifetime of a stored response in seconds (section 4.2.1).
    ///
    /// A private cache ignores `s-maxage`.
    private static func lifetime(of stored: StoredResponse) -> Double {
        if let seconds = stored.directives.seconds("max-age", garbled: 0) { return Double(seconds) }
        let expires = stored.headers.values("Expires")
        guard expires.isEmpty else {
            // An invalid date, such as 0, means expired (section 5.3); so do several different dates.
            guard Set(expires).count == 1, let expiry = stored.headers.date("Expires", now: stored.responseDate) else {
                return 0
            }
            return stored.isDateGarbled ? 0 : expiry.timeIntervalSince(stored.date ?? stored.responseDate)
        }
        return stored.heuristicLifetime
    }
}

extension StoredResponse {
    /// The `Date` of the response; nil if there is none.
    var date: Date? { headers.date("Date", now: responseDate) }

    fileprivate var isDateGarbled: Bool {
        headers.contains("Date") && (date == nil || headers.values("Date").count > 1)
    }

    /// The response's `Age` (section 5.1): the first member of the field; 0 if it is not a number.
    fileprivate var ageValue: Int64 {
        let first = headers["Age"]?.prefix { $0 != "," }
        return first?.trimmingCharacters(in: .whitespaces).deltaSeconds ?? 0
    }

    /// The lifetime if the server gives none (section 4.2.2): a tenth of the time since the last modification.
    fileprivate var heuristicLifetime: Double {
        guard CacheRules.heuristicStatuses.contains(status) || directives.has("public"), !isDateGarbled,
            let changed = headers.date(.lastModified, now: responseDate)
        else { return 0 }
        return FreshnessArithmetic.heuristicLifetime(
            generated: (date ?? responseDate).timeIntervalSince1970,
            lastModified: changed.timeIntervalSince1970
        )
    }
}
