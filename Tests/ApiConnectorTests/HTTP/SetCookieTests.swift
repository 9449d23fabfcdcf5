// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// `Set-Cookie` fields that Foundation joined by commas, taken apart (RFC 6265, section 3).
struct SetCookieTests {
    @Test(arguments: [
        ["a=1"], ["a="], ["a=1", "b=2"], ["a=1; Path=/", "b=2; Path=/x"], ["a=", "b="], ["a=1", "a=2", "a=3"],
        ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
        ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; expires=Thu, 01-Jan-70 00:00:01 GMT; HttpOnly"],
        ["a=1; Expires=Wednesday, 21-Oct-26 07:28:00 GMT; Path=/", "b=2"],
        ["a=\"x y\"", "b=2"], ["a=b=c", "d=e=f"], ["__Host-a=1; Secure", "b!#$%&'*+.^_`|~-=2"],
        ["a=1,2", "b=3"], ["a=x, y", "b=3"], ["a=1; Domain=.example.org; Max-Age=0", "b=2; SameSite=Lax"],
    ]) func areTheFieldsThatTheServerSent(_ fields: [String]) {
        for separator in [", ", ","] {
            #expect(SetCookie.fields(in: fields.joined(separator: separator)) == fields)
        }
    }

    /// A comma before `name=` may be in a value or between two fields; both look the same.
    @Test func aCommaBeforeANameIsTakenForTheEndOfAField() {
        #expect(SetCookie.fields(in: "a=1,b=2") == ["a=1", "b=2"])
    }
}
