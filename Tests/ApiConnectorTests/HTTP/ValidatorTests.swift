// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// The entity tag or the date that a server gives to a version of a resource.
struct ValidatorTests {
    @Test(
        arguments: [
            (#""v1""#, true), (#""""#, true), (#"W/"v1""#, false), (#"W/"""#, false), ("\"!#~\u{E9}\"", true),
            ("\"", nil), ("v1", nil), (#""v1"#, nil), (#"v1""#, nil), (#""v"1""#, nil), (#""v 1""#, nil),
            ("\"v\u{7F}1\"", nil), (#"w/"v1""#, nil), ("", nil),
        ] as [(String, Bool?)]
    )
    func aTagIsStrongOrWeakOrNone(_ tag: String, _ isStrong: Bool?) {
        let validator = Validator(["ETag": tag])
        #expect(validator?.isStrong == isStrong)
        if isStrong != nil { #expect(validator?.text == tag) }
    }

    private static let day = "Mon, 01 Jun 2026 10:00:00 GMT"

    @Test(
        arguments: [
            ("Mon, 01 Jun 2026 10:00:01 GMT", true), (day, false), ("Mon, 01 Jun 2026 09:59:59 GMT", false),
            (nil, false),
        ] as [(String?, Bool)]
    )
    func aDateIsStrongASecondLater(_ date: String?, _ isStrong: Bool) {
        var headers: HTTPHeaders = ["Last-Modified": Self.day]
        if let date { headers["Date"] = date }
        #expect(Validator(headers)?.isStrong == isStrong)
        #expect(Validator(headers)?.text == Self.day)
    }

    @Test func aDateIsIgnoredIfTheTagIsInvalid() {
        #expect(Validator(["ETag": "v1", "Last-Modified": Self.day]) == nil)
        #expect(Validator(["Last-Modified": "yesterday"]) == nil)
        #expect(Validator(HTTPHeaders()) == nil)
    }
}
