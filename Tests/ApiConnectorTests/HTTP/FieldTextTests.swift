// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Small parts of field values.
struct FieldTextTests {
    @Test(
        arguments: [
            ("0", 0), ("007", 7), ("2147483647", 2_147_483_647), ("2147483649", HTTPSeconds.greatest),
            ("99999999999999999999", HTTPSeconds.greatest), ("", nil), ("-1", nil), ("1.5", nil), (" 1", nil),
            ("1s", nil),
        ] as [(String, Int64?)]
    )
    func secondsAreDigitsUpToTwoToThe31(_ text: String, _ seconds: Int64?) {
        #expect(HTTPSeconds.seconds(text) == seconds)
        #expect(HTTPSeconds.greatest == Int64(Int32.max) + 1)
    }

    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
        (
            "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2; Path=/",
            ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Path=/"]
        ),
        ("a=x, y", ["a=x, y"]), ("a=x, =y", ["a=x, =y"]), ("a=x, y z=1", ["a=x, y z=1"]),
        ("a=x, b; c=1", ["a=x, b; c=1"]),
    ])
    func joinedCookiesAreSplit(_ joined: String, _ fields: [String]) {
        #expect(SetCookie.fields(in: joined) == fields)
    }

    @Test(arguments: [
        ("application/json", true), ("text/json", true), ("image/json", false), ("application/problem+json", true),
        ("image/x+json", true), ("application/jsonx", false), ("application/xml", false),
    ])
    func aMediaTypeIsJSONByItsSubtype(_ text: String, _ isJSON: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == isJSON)
    }

    @Test(arguments: [
        ("application/problem+json", "application/*+json", true), ("application/json", "application/*+json", false),
        ("application/problem+xml", "application/*+json", false), ("text/plain", "text/*", true),
        ("text/plain", "*/*", true), ("image/png", "text/*", false), ("text/plain; a=B", "text/plain; a=b", true),
        ("text/plain", "text/plain; a=b", false), ("text/plain", "text/plain; q=0.5", true),
    ])
    func aMediaTypeMatchesARange(_ text: String, _ range: String, _ matches: Bool) throws {
        #expect(try #require(MediaType(text)).matches(try #require(MediaType(range))) == matches)
    }

    @Test func separatorsWithinQuotesDoNotSplit() throws {
        let ranges = MediaType.ranges(in: #"a/b; c="x\",;y\\"; d=e, f/g"#)
        #expect(ranges.map(\.type) == ["a", "f"])
        #expect(ranges.first?[parameter: "c"] == #"x",;y\"#)
        #expect(ranges.first?[parameter: "d"] == "e")
    }
}
