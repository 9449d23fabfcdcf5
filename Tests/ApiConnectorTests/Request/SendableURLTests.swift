// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Which URLs a transport may send, whether they are read off their text or asked for their parts.
struct SendableURLTests {
    private func refusal(of url: URL) -> String? {
        do throws(ApiConnectorError) {
            try ApiRequest(url: url).checkSendable()
            return nil
        } catch {
            return error.detail
        }
    }

    @Test(arguments: [
        "http://h", "http://h/", "https://h?q", "http://h#f", "http://h:8080", "http://h:/p", "http://h:80?q",
        "http://a_b.c-d/p",
        "HTTP://h/", "Https://h/", "http://[::1]:80/", "http://user@h/", "http://user:80@h/", "http://%41/",
        "http://b%C3%BCcher/",
    ])
    func areThoseWithAHost(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(refusal(of: url) == nil)
    }

    @Test(arguments: [
        "http:", "http:/p", "http:///p", "https://", "http://?q", "http://#f", "http://:80/", "http://user@/",
        "http://user:80@",
        "http://user:80@/p", "http://u:p@:80/",
    ])
    func areNotThoseWithoutAHost(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(refusal(of: url) == "its URL has no host")
    }

    @Test(arguments: [
        ("ftp://h/", "its URL has the scheme \"ftp\", but only http and https are supported"),
        ("httpss://h/", "its URL has the scheme \"httpss\", but only http and https are supported"),
        ("//h/p", "its URL has no scheme, but only http and https are supported"),
        ("h/p", "its URL has no scheme, but only http and https are supported"),
    ])
    func areNotThoseOfAnotherScheme(_ text: String, _ reason: String) throws {
        let url = try #require(URL(string: text))
        #expect(refusal(of: url) == reason)
    }

    @Test func mayBeRelativeToOneWithAHost() throws {
        let base = try #require(URL(string: "http://h/a/"))
        #expect(refusal(of: try #require(URL(string: "b?c", relativeTo: base))) == nil)
    }
}
