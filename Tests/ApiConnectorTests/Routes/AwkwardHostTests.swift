// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct AwkwardHostTests {
    static let plain: [AwkwardText<String>] = [
        .init("api.example.com", "http://api.example.com:80/me", "a name"),
        .init("API.Example.com", "http://API.Example.com:80/me", "capitals stay"),
        .init("localhost", "http://localhost:80/me", "one label"),
        .init("my_service", "http://my_service:80/me", "the underscore that Docker's networks use"),
        .init("example.com.", "http://example.com.:80/me", "the dot of an absolute name"),
        .init("127.0.0.1", "http://127.0.0.1:80/me", "IPv4"),
        .init("::1", "http://[::1]:80/me", "IPv6 without brackets"),
        .init("[::1]", "http://[::1]:80/me", "IPv6 with brackets"),
        .init("2001:DB8::a:80", "http://[2001:DB8::a:80]:80/me", "IPv6 that ends like a port"),
        .init("::ffff:10.0.0.1", "http://[::ffff:10.0.0.1]:80/me", "IPv6 with IPv4 in it"),
        .init("xn--mnchen-3ya.de", "http://xn--mnchen-3ya.de:80/me", "punycode"),
        .init("m\u{FC}nchen.de", "http://xn--mnchen-3ya.de:80/me", "a Unicode name"),
        .init("mu\u{308}nchen.de", "http://xn--mnchen-3ya.de:80/me", "the same name, decomposed"),
        .init("\u{4F8B}\u{3048}.jp", "http://xn--r8jz45g.jp:80/me", "a Japanese name"),
        .init("a\u{3002}b", "http://a.b:80/me", "an ideographic full stop is a dot, says UTS 46"),
        .init(String(repeating: "a", count: 300), "http://\(String(repeating: "a", count: 300)):80/me", "a long label"),
    ]

    static let refused: [AwkwardText<String>] = [
        .init("a/b", "http://a%2Fb:80/me", "a slash would start the path"),
        .init("a\\b", "http://a%5Cb:80/me", "a backslash is a slash to browsers"),
        .init("a?b", "http://a%3Fb:80/me", "a question mark would start the query"),
        .init("a#b", "http://a%23b:80/me", "a number sign would start the fragment"),
        .init("user@other", "http://user%40other:80/me", "an at sign would name another host"),
        .init("other:8080", "http://other%3A8080:80/me", "a port has its own property"),
        .init("http://other", "http://http%3A%2F%2Fother:80/me", "a scheme has its own property"),
        .init("a b", "http://a%20b:80/me", "a space"),
        .init(" a", "http://%20a:80/me", "a space in front"),
        .init("a\r\nb", "http://a%0D%0Ab:80/me", "a line break would end the field Host"),
        .init("a\0b", "http://a%00b:80/me", "NUL would end the name in C"),
        .init("a\u{7F}", "http://a%7F:80/me", "a control character"),
        .init("100%", "http://100%25:80/me", "a percent sign"),
        .init("%61", "http://%2561:80/me", "an escape is data as well"),
        .init("\u{FF0F}", "http://%EF%BC%8F:80/me", "a fullwidth slash, which IDNA makes a slash"),
        .init("a\u{FF0F}b", "http://a%EF%BC%8Fb:80/me", "a fullwidth slash within"),
        .init("a\u{FF20}b", "http://a%EF%BC%A0b:80/me", "a fullwidth at sign"),
        .init("a\u{FF1A}80", "http://a%EF%BC%9A80:80/me", "a fullwidth colon"),
        .init("a\u{2100}b", "http://a%E2%84%80b:80/me", "a sign that IDNA takes apart into a/c"),
        .init("\u{AD}", "http://%C2%AD:80/me", "a soft hyphen alone, of which IDNA leaves nothing"),
        .init("::1]", "http://%3A%3A1%5D:80/me", "half of the brackets"),
        .init("[::1", "http://%5B%3A%3A1:80/me", "the other half"),
        .init("[a]", "http://%5Ba%5D:80/me", "brackets around a name"),
        .init("fe80::1%eth0", "http://fe80%3A%3A1%25eth0:80/me", "a zone, which no URL on the wire may hold"),
        .init("::1\0", "http://%3A%3A1%00:80/me", "an address followed by NUL"),
        .init("a,b;c=d", "http://a%2Cb%3Bc%3Dd:80/me", "sub-delimiters, which are no name's"),
    ]

    @Test(arguments: plain)
    func writesAPlainHost(_ row: AwkwardText<String>) throws {
        let place = Place(host: row.input)
        #expect(Endpoint(text: "/me").text(in: place) == row.url)
        #expect(try Endpoint(text: "/me").request(in: place).url.absoluteString == row.url)
    }

    @Test(arguments: refused)
    func encodesOrRefusesAnUnusualHost(_ row: AwkwardText<String>) throws {
        let place = Place(host: row.input)
        #expect(Endpoint(text: "/me").text(in: place) == row.url)
        let error = try #require(throws: ApiConnectorError.self) { try Endpoint(text: "/me").request(in: place) }
        #expect(error.kind == .invalidRequest)
        #expect(error.stage == .url)
        let shown = row.input.contains("@") ? row.url.replacing("user", with: "REDACTED") : row.url
        // A text has no default port.
        #expect(error.request?.url == shown.replacing(":80/", with: "/"))
        #expect(!row.input.contains("@") || !error.description.contains("user"))
    }

    @Test func writesAnEmptyHostAsNone() {
        #expect(Endpoint(text: "/me").text(in: Place(host: "")) == "http://:80/me")
        #expect(Endpoint(text: "/me").text(in: Place(host: "", port: nil)) == "http:///me")
        #expect(Endpoint(text: "").text(in: Place(host: "", port: nil)) == "http://")
    }

    @Test(arguments: ["a", "/", "é", "\0"])
    func writesAHostOfAHundredKilobytes(_ character: String) throws {
        let escaped = ["a": "a", "/": "%2F", "é": "%C3%A9", "\0": "%00"]
        let host = String(repeating: character, count: 100 * 1024)
        let encoded = String(repeating: try #require(escaped[character]), count: 100 * 1024)
        #expect(Endpoint(text: "/me").text(in: Place(host: host)) == "http://\(encoded):80/me")
    }
}
