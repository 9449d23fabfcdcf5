// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// How the text of `Cache-Control` is read (RFC 9111, section 5.2): a list of names with an optional token or quoted string.
struct CacheDirectiveTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fields: [String]
        /// The seconds of `max-age`; -1 where it cannot be read.
        let maximumAge: Int64?
        let forbids: Bool

        init(_ fields: String..., age: Int64? = nil, forbids: Bool = false) {
            self.fields = fields
            maximumAge = age
            self.forbids = forbids
        }

        var testDescription: String { fields.joined(separator: " | ") }
    }

    static let rows: [Row] = [
        Row("max-age=60", age: 60),
        Row("MAX-Age=60", age: 60),
        Row("max-age=\"60\"", age: 60),
        Row("max-age=060", age: 60),
        Row("max-age=0", age: 0),
        Row("  max-age=60  ", age: 60),
        Row("\tmax-age=60\t, public", age: 60),
        Row("public,max-age=60", age: 60),
        Row(",, ,max-age=60,", age: 60),
        Row("public", "max-age=60", age: 60),
        Row("max-age=60, max-age=60", age: 60),
        Row("max-age=99999999999999999999", age: HTTPSeconds.greatest),
        // Two that differ, and what is not a number of seconds (section 1.2.2).
        Row("max-age=60, max-age=0", age: -1),
        Row("max-age=60", "max-age=0", age: -1),
        Row("max-age=60, max-age", age: -1),
        Row("max-age", age: -1),
        Row("max-age=", age: -1),
        Row("max-age=\"\"", age: -1),
        Row("max-age=-1", age: -1),
        Row("max-age=+60", age: -1),
        Row("max-age=1.5", age: -1),
        Row("max-age=6 0", age: -1),
        Row("max-age=60;", age: -1),
        Row("max-age=60s", age: -1),
        Row("max-age='60'", age: -1),
        Row("max-age=0x3c", age: -1),
        Row("max-age=٦٠", age: -1),
        Row("max-age=?1", age: -1),
        Row("max-age=:NjA=:", age: -1),
        // Names that only look alike, and what is quoted.
        Row("s-maxage=60"), Row("x-max-age=60"), Row("max-age-x=60"), Row("maxage=60"), Row(""),
        Row("x=\"max-age=60\""), Row("x=\"a, max-age=60, b\""), Row("x=\"a\\\", max-age=60\""),
        Row("x=\"a\", max-age=60", age: 60),
        Row("x=\"a, b\\\\\", max-age=60", age: 60),
        Row("no-store", forbids: true),
        Row("NO-STORE", forbids: true),
        Row("no-store, max-age=60", age: 60, forbids: true),
        Row("max-age=60", "no-store", age: 60, forbids: true),
        Row("no-store=\"x\"", forbids: true),
        Row("x=\"no-store\""), Row("no-stores"), Row("private=\"no-store\""),
        // An element that is not well formed: a word that forbids counts wherever it stands.
        Row("max-age=60 no-store", age: -1, forbids: true),
        Row("max-age=60; no-store", age: -1, forbids: true),
        Row("\"no-store\"", forbids: true),
        Row("no-store=?0", forbids: true),
        Row("x=\"a, no-store", forbids: true),
        Row("x=\"a\"b, max-age=60", age: 60),
    ]

    @Test(arguments: rows) func isReadAsTheTableSays(_ row: Row) {
        var headers = HTTPHeaders()
        for field in row.fields { headers.append(.cacheControl, field) }
        let directives = CacheDirectives(headers)
        #expect(directives.seconds("max-age", garbled: -1) == row.maximumAge)
        #expect(directives.has("no-store") == row.forbids)
    }
}
