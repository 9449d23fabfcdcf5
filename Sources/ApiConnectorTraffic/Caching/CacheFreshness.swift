// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A response as it is kept, with what says for whom and until when it is good.
struct StoredResponse: Sendable, Hashable {
    var status: HTTPStatus

    /// Without the fields that are never kept: see ``CacheRules/keptFields(of:redactor:)``.
    var headers: HTTPHeaders
    var body: Data

    /// When the request for it was sent, by our own clock.
    var requestDate: Date

    /// When its head came.
    var responseDate: Date

    /// A digest of the credential that it was asked for with; empty where there was none.
    var credential = Data()

    /// A digest of the request's fields that its `Vary` names.
    var selection = Data()

    var directives: CacheDirectives { CacheDirectives(headers) }
}

/// How old a stored response is, and how old it may be (RFC 9111, section 4.2).
struct CacheFreshness: Hashable {
    /// For how many seconds from its making on it is fresh.
    let lifetime: Double

    /// The seconds since it was made, as far as can be told; never too few.
    let age: Double

    init(of stored: StoredResponse, at now: Date) {
        age = Self.age(of: stored, at: now)
        lifetime = Self.lifetime(of: stored)
    }

    /// Section 4.2: a response is fresh as long as its lifetime is greater than its age.
    var isFresh: Bool { lifetime > age }

    /// For how many seconds it has not been fresh; 0 while it is.
    var staleness: Double { max(0, age - lifetime) }

    /// The age in whole seconds, as the `Age` field has it.
    var ageField: String { FreshnessArithmetic.field(age: age) }

    /// Section 4.2.3.
    private static func age(of stored: StoredResponse, at now: Date) -> Double {
        FreshnessArithmetic.age(
            now: now.timeIntervalSince1970,
            requested: stored.requestDate.timeIntervalSince1970,
            received: stored.responseDate.timeIntervalSince1970,
            generated: stored.date?.timeIntervalSince1970,
            ageValue: stored.ageValue
        )
    }

    /// Section 4.2.1, for a private cache: `s-maxage` means nothing to it.
    private static func lifetime(of stored: StoredResponse) -> Double {
        if let seconds = stored.directives.seconds("max-age", garbled: 0) { return Double(seconds) }
        let expires = stored.headers.values("Expires")
        guard expires.isEmpty else {
            // An invalid date, such as 0, has passed (section 5.3); so have several that differ.
            guard Set(expires).count == 1, let expiry = stored.headers.date("Expires", now: stored.responseDate) else {
                return 0
            }
            return stored.isDateGarbled ? 0 : expiry.timeIntervalSince(stored.date ?? stored.responseDate)
        }
        return stored.heuristicLifetime
    }
}

extension StoredResponse {
    /// When the server says that it made it; nil where it does not.
    var date: Date? { headers.date("Date", now: responseDate) }

    fileprivate var isDateGarbled: Bool {
        headers.contains("Date") && (date == nil || headers.values("Date").count > 1)
    }

    /// Section 5.1: the first member counts, and one that is no number is ignored.
    fileprivate var ageValue: Int64 {
        let first = headers["Age"]?.prefix { $0 != "," }
        return first?.trimmingCharacters(in: .whitespaces).deltaSeconds ?? 0
    }

    /// Section 4.2.2: a tenth of the time for which it has not been changed.
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
