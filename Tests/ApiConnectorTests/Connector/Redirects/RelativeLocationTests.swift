// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// RFC 3986, section 5.4: references resolved against `http://a/b/c/d;p?q`.
struct RelativeLocationTests {
    private static let normal: [(String, String)] = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ]

    private static let abnormal: [(String, String)] = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ]

    /// Locations that are not in the RFC's table: texts that are not a URI, and URIs that must stay unchanged.
    private static let odd: [(String, String)] = [
        ("a b", "http://a/b/c/a%20b"), ("/caf\u{e9}", "http://a/caf%C3%A9"), ("%7Eg", "http://a/b/c/%7Eg"),
        ("/a%2Fb", "http://a/a%2Fb"), ("/a//b", "http://a/a//b"), ("http://a/x/../y", "http://a/y"),
        ("HTTP://a/g", "HTTP://a/g"), ("/caf\u{e9}/a%20b", "http://a/caf%C3%A9/a%20b"),
        ("/a%b c%", "http://a/a%25b%20c%25"), ("/\u{301}g?\u{301}", "http://a/%CC%81g?%CC%81"),
        ("/a\\b?c\\d", "http://a/a%5Cb?c%5Cd"), ("/p?u=http:\\\\x", "http://a/p?u=http:%5C%5Cx"),
        ("/p?a[]=%5B1 2", "http://a/p?a%5B%5D=%5B1%202"), ("http://[::1]:80/[x]#a#b", "http://[::1]:80/%5Bx%5D#a%23b"),
    ]

    /// A host is encoded by IDNA, as browsers do it.
    private static let hosts: [(String, String)] = [
        ("http://b\u{fc}cher.example/%20\u{fc}", "http://xn--bcher-kva.example/%20%C3%BC"),
        ("//\u{4f60}\u{597d}/%41?\u{e9}", "http://xn--6qq79v/%41?%C3%A9"),
        ("http://www.foo\u{3002}example/", "http://www.foo.example/"),
        ("http://\u{ff27}\u{ff4f}.example/", "http://go.example/"),
        ("http://u x:p%20w@a/", "http://u%20x:p%20w@a/"),
        ("http://[::1]:81/a b", "http://[::1]:81/a%20b"),
        ("//g:81", "http://g:81"),
        ("http://%67%C3%A9/", "http://%67%C3%A9/"),
    ]

    /// A character that no host may have is not encoded: that would make a name that the server did not write.
    private static let hostless = [
        "http://a b/", "http://a|b/", "http://a^b/", "http://a<b", "http://a%b/", "http://a]b/", "http://%zz.example/",
        "http://a`b/", "http://192.168.0.1 x/", "//a b", "http://\u{ad}/",
        "http://ho%2Fst/", "http://a%40g/", "http://a%3A80/", "http://a%23g/", "http://a%00/", "http://a%25/",
        "http://a%E9/", "http://\u{ff05}\u{ff10}\u{ff10}.example/",
    ]

    /// A browser finds another host in them than RFC 3986 does.
    private static let ambiguous = [
        "http:g", "http:127.0.0.1:8080/evil", "HTTPS:evil.example.org", "https:/evil.example.org",
        "///evil.example.org",
        "http:///evil.example.org/", "/\\evil.example.org", "\\\\evil.example.org", "\\/evil.example.org",
        "//\\evil.example.org", "http:\\\\evil.example.org", "//a\\@evil.example.org", "http://a\\.evil.example.org",
        "/\t/evil.example.org",
        // A combining mark, which is one character with the separator before it.
        "http:\u{6DB}evil.example.org", "https:\u{301}/evil.example.org", "///\u{301}evil.example.org",
        "//a\\\u{301}@evil.example.org", "http:\\\\\u{301}evil.example.org",
    ]

    /// Where a call at the RFC's base goes when it is sent to a location.
    private func target(of location: String, over wire: Wire) async throws -> String? {
        let web = try ScriptedWeb(over: wire) { request in
            guard request.target == "/b/c/d;p?q" else { return .text("there") }
            return LoopbackResponse(status: 302, headers: [("Location", location)])
        }
        let base = wire == .testConnector ? "http://a" : web.home
        let response = try await web.connection().response(at: try #require(URL(string: base + "/b/c/d;p?q")))
        #expect(web.requests.count == 2)
        return wire == .testConnector ? response.url.absoluteString : web.requests.last.map { String($0.target) }
    }

    @Test(arguments: normal + abnormal + odd + hosts)
    func areResolvedAsTheStandardSays(_ location: String, _ expected: String) async throws {
        #expect(try await target(of: location, over: .testConnector) == expected)
    }

    @Test(arguments: ambiguous + hostless)
    func areRefusedIfTheHostIsAmbiguous(_ location: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { _ in
            LoopbackResponse(status: 302, headers: [("Location", location)])
        }
        let url = try #require(URL(string: "http://a/b/c/d"))
        do {
            _ = try await web.connection().response(at: url)
            Issue.record("it was followed")
        } catch {
            #expect(error.kind == .redirectRefused)
        }
        #expect(web.requests.count == 1)
    }

    @Test(arguments: Wire.sockets, (normal + abnormal).filter { $0.0 != "//g" })
    func areResolvedOverSocketsToo(_ wire: Wire, _ row: (String, String)) async throws {
        let path = row.1.dropFirst("http://a".count).prefix { $0 != "#" }
        #expect(try await target(of: row.0, over: wire) == String(path))
    }

    /// RFC 9110, section 10.2.2.
    @Test(arguments: [("/new", "#old", "/new#old"), ("/new#own", "#old", "/new#own"), ("/new", "", "/new")])
    func inheritTheFragment(_ location: String, _ fragment: String, _ expected: String) async throws {
        let web = try ScriptedWeb(over: .testConnector) { request in
            guard request.target.hasPrefix("/start") else { return .text("there") }
            return LoopbackResponse(status: 302, headers: [("Location", location)])
        }
        let url = try #require(URL(string: "\(web.home)/start\(fragment)"))
        #expect(try await web.connection().response(at: url).url.absoluteString == web.home + expected)
    }
}
