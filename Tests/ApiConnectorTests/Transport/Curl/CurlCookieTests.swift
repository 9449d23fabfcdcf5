// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The cookies that `TransportConfiguration.Cookies.inMemory` stores and sends back (RFC 6265).
///
/// libcurl differs in some rows, which are marked. Where its versions differ, the row has them.
struct CurlCookieTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Where the fields are set, and the fields.
        let origin: String
        let fields: [String]
        /// Where the next request goes.
        let target: String
        let expected: String?

        init(
            _ name: String,
            _ fields: String...,
            from origin: String = "http://www.example.org/dir/page",
            to target: String = "http://www.example.org/dir/other",
            sends expected: String?
        ) {
            testDescription = name
            self.fields = fields
            self.origin = origin
            self.target = target
            self.expected = expected
        }
    }

    /// RFC 6265, section 5.2: the meaning of a field.
    static let parsing: [Row] = [
        Row("a pair", "a=1", sends: "a=1"),
        Row("an empty value", "a=", sends: "a="),
        Row("no equals sign", "a", sends: nil),
        // From 8.13 to 8.17, libcurl stores it.
        Row(
            "an empty name",
            "=1",
            sends: CurlVersion.since("8.18", nil, before: CurlVersion.since("8.13", "=1", before: nil))
        ),
        Row("an empty field", "", sends: nil),
        Row("blanks around both", " a = 1 ; Foo", sends: "a=1"),
        Row("a quoted value", "a=\"1 2\"", sends: "a=\"1 2\""),
        Row("equals signs in a value", "a=b=c==", sends: "a=b=c=="),
        Row("a comma in a value", "a=1,b=2", sends: "a=1,b=2"),
        Row("a blank in a value", "a=1 2", sends: "a=1 2"),
        Row("a value in UTF-8", "a=é", sends: "a=é"),
        Row("a tab in a value", "a=1\t2", sends: CurlVersion.since("7.86", nil, before: "a=1\t2")),
        Row("unknown attributes", "a=1; Foo=bar; Baz", sends: "a=1"),
        Row("empty attributes", "a=1;;;", sends: "a=1"),
        Row("HttpOnly", "a=1; HttpOnly", sends: "a=1"),
        // Names in two cases are two cookies; libcurl has one before 8.11.1.
        Row("names in two cases", "a=1", "A=2", sends: CurlVersion.since("8.11.1", "A=2; a=1", before: "A=2")),
        Row("the same name again", "a=1", "a=2", sends: "a=2"),
        Row("names of two cookies in one field", "a=1; b=2", sends: "a=1"),
        Row(
            "4000 bytes",
            "a=\(String(repeating: "b", count: 4000))",
            sends: "a=\(String(repeating: "b", count: 4000))"
        ),
        Row("9000 bytes", "a=\(String(repeating: "b", count: 9000))", sends: nil),
    ]

    /// RFC 6265, sections 5.1.4 and 5.2.4.
    static let paths: [Row] = [
        Row("the default path", "a=1", to: "http://www.example.org/dir/deep/er", sends: "a=1"),
        Row("the default path itself", "a=1", to: "http://www.example.org/dir", sends: "a=1"),
        Row("beside the default path", "a=1", to: "http://www.example.org/", sends: nil),
        Row("the default path at the root", "a=1", from: "http://www.example.org/page", sends: "a=1"),
        Row("the default path without a path", "a=1", from: "http://www.example.org", sends: "a=1"),
        Row("a path", "a=1; Path=/foo", to: "http://www.example.org/foo/bar", sends: "a=1"),
        Row("a path in upper case", "a=1; PATH=/foo", to: "http://www.example.org/foo/bar", sends: "a=1"),
        Row("the path itself", "a=1; Path=/foo", to: "http://www.example.org/foo", sends: "a=1"),
        Row("a longer name", "a=1; Path=/foo", to: "http://www.example.org/foobar", sends: nil),
        Row("another case", "a=1; Path=/Foo", to: "http://www.example.org/foo", sends: nil),
        Row("a path with a slash at its end", "a=1; Path=/foo/", to: "http://www.example.org/foo/bar", sends: "a=1"),
        // Section 5.1.4 has no match; libcurl drops the slash.
        Row("a path with a slash, without it", "a=1; Path=/foo/", to: "http://www.example.org/foo", sends: "a=1"),
        Row("a path without a slash", "a=1; Path=foo", sends: "a=1"),
        Row("an empty path", "a=1; Path=", sends: "a=1"),
        Row("a query is not a part of it", "a=1; Path=/foo", to: "http://www.example.org/foo?b", sends: "a=1"),
        Row("the last path counts", "a=1; Path=/x; Path=/", sends: "a=1"),
        Row("the longest path first", "a=1; Path=/", "a=2; Path=/dir", sends: "a=2; a=1"),
        Row("the path of another page", "a=1; Path=/elsewhere", to: "http://www.example.org/elsewhere/", sends: "a=1"),
    ]

    /// RFC 6265, sections 5.1.3 and 5.2.3.
    static let domains: [Row] = [
        Row("no domain, from a subdomain", "a=1; Path=/", from: "http://example.org/", sends: nil),
        Row("a domain", "a=1; Path=/; Domain=example.org", to: "http://api.example.org/", sends: "a=1"),
        Row("a domain, itself", "a=1; Path=/; Domain=example.org", to: "http://example.org/", sends: "a=1"),
        Row("a domain with a dot", "a=1; Path=/; Domain=.example.org", to: "http://example.org/", sends: "a=1"),
        Row("a domain in upper case", "a=1; Path=/; Domain=EXAMPLE.ORG", to: "http://example.org/", sends: "a=1"),
        Row(
            "its own name as the domain",
            "a=1; Path=/; Domain=www.example.org",
            to: "http://x.www.example.org/",
            sends: "a=1"
        ),
        Row("another domain", "a=1; Domain=example.com", to: "http://example.com/dir/", sends: nil),
        Row("another domain, at home", "a=1; Domain=example.com", sends: nil),
        Row("a sibling", "a=1; Path=/; Domain=api.example.org", to: "http://api.example.org/", sends: nil),
        Row("a subdomain", "a=1; Path=/; Domain=x.www.example.org", to: "http://x.www.example.org/", sends: nil),
        Row("the end of a name", "a=1; Path=/; Domain=ample.org", to: "http://ample.org/", sends: nil),
        Row("a name that ends alike", "a=1; Path=/; Domain=example.org", to: "http://anexample.org/", sends: nil),
        Row("a top-level domain", "a=1; Path=/; Domain=org", to: "http://other.org/", sends: nil),
        // Only a libcurl with libpsl knows them.
        Row(
            "a public suffix",
            "a=1; Path=/; Domain=co.uk",
            from: "http://shop.co.uk/",
            to: "http://other.co.uk/",
            sends: CurlVersion.library("libpsl") == nil ? "a=1" : nil
        ),
        // Before 7.85, libcurl refuses the cookie.
        Row("an empty domain", "a=1; Domain=", sends: CurlVersion.since("7.85", "a=1", before: nil)),
        Row("a domain of a dot", "a=1; Domain=.", sends: nil),
        Row("an address", "a=1", from: "http://192.0.2.1/", to: "http://192.0.2.1/", sends: "a=1"),
        Row("the end of an address", "a=1; Domain=2.1", from: "http://192.0.2.1/", to: "http://9.9.2.1/", sends: nil),
        Row(
            "an address as the domain",
            "a=1; Domain=192.0.2.1",
            from: "http://192.0.2.1/",
            to: "http://192.0.2.1/",
            sends: "a=1"
        ),
        Row("another port", "a=1; Path=/", to: "http://www.example.org:8080/", sends: "a=1"),
        Row("a name in upper case", "a=1; Path=/", to: "http://WWW.EXAMPLE.ORG/", sends: "a=1"),
    ]

    /// RFC 6265, sections 5.2.1, 5.2.2 and 5.2.5; the rest are rules of its successor.
    static let attributes: [Row] = [
        Row("a date in the future", "a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT", sends: "a=1"),
        Row("a date in the past", "a=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT", sends: nil),
        Row("a date with hyphens", "a=1; Expires=Thu, 01-Jan-1970 00:00:01 GMT", sends: nil),
        Row("a year of two digits", "a=1; Expires=Fri, 01-Jan-71 00:00:01 GMT", sends: nil),
        // Section 5.1.1 has 1970; libcurl has 2070, so that this does not remove a cookie.
        Row("the year 70", "a=1; Expires=Thu, 01-Jan-70 00:00:01 GMT", sends: "a=1"),
        Row("no date", "a=1; Expires=soon", sends: "a=1"),
        Row("an empty date", "a=1; Expires=", sends: "a=1"),
        Row("an age", "a=1; Max-Age=1000000", sends: "a=1"),
        Row("an age of 0", "a=1; Max-Age=0", sends: nil),
        // Before 7.87, libcurl ignores it.
        Row("a negative age", "a=1; Max-Age=-1", sends: CurlVersion.since("7.87", nil, before: "a=1")),
        // Section 5.2.2 ignores it; libcurl takes it for 0 from 7.87 on.
        Row(
            "an age that is not a number",
            "a=1; Max-Age=soon",
            sends: CurlVersion.since("7.87", nil, before: "a=1")
        ),
        Row("an age of 20 digits", "a=1; Max-Age=99999999999999999999", sends: "a=1"),
        Row("an age before a date", "a=1; Max-Age=1000; Expires=Thu, 01 Jan 1970 00:00:01 GMT", sends: "a=1"),
        Row("an age after a date", "a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=0", sends: nil),
        Row("removed by a date", "a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:01 GMT", sends: nil),
        Row("removed by an age", "a=1", "a=x; Max-Age=0", sends: nil),
        Row("not removed at another path", "a=1", "a=x; Max-Age=0; Path=/elsewhere", sends: "a=1"),
        Row("Secure, over plain HTTP", "a=1; Secure", sends: nil),
        Row("the prefix __Secure-, over plain HTTP", "__Secure-a=1; Secure", sends: nil),
        Row("the prefix __Host-, over plain HTTP", "__Host-a=1; Path=/", sends: nil),
        Row("SameSite", "a=1; SameSite=Strict", sends: "a=1"),
    ]

    @Test(arguments: parsing + paths + domains + attributes)
    func areSentAsTheTableSays(_ row: Row) async throws {
        // As a proxy, the server has every name.
        let server = try LoopbackServer.responding { request in
            LoopbackResponse(headers: request.header("X-Sets") == nil ? [] : row.fields.map { ("Set-Cookie", $0) })
        }
        var configuration = CurlConfiguration.patient
        configuration.cookies = .inMemory
        configuration.proxy = .url(server.url())
        let provider = CurlProvider(configuration: configuration)
        let first = ApiRequest(url: try #require(URL(string: row.origin)), headers: ["X-Sets": "1"])
        let second = ApiRequest(url: try #require(URL(string: row.target)))
        for request in [first, second] { _ = try await provider.response(for: request) }
        #expect(server.requests.count == 2)
        #expect(server.requests.last?.headers(named: "Cookie") == (row.expected.map { [$0] } ?? []))
    }

    /// RFC 6265, section 5.4: a request has one field `Cookie`.
    @Test func aCookieOfTheCallerIsInTheSameField() async throws {
        let server = try LoopbackServer.responding { _ in LoopbackResponse(headers: [("Set-Cookie", "a=1")]) }
        var configuration = CurlConfiguration.patient
        configuration.cookies = .inMemory
        let provider = CurlProvider(configuration: configuration)
        for headers: HTTPHeaders in [[:], ["Cookie": "b=2"], [:]] {
            _ = try await provider.response(for: ApiRequest(url: server.url(), headers: headers))
        }
        #expect(server.requests.map { $0.headers(named: "Cookie") } == [[], ["a=1; b=2"], ["a=1"]])
    }
}
#endif
