// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Where secrets are, for a caller that replaces them.
struct SecretPlaceTests {
    /// The text with `redact`'s placeholder in each place.
    private func replaced(_ text: String, _ places: [Redactor.SecretPlace]) -> String {
        var bytes = Array(text.utf8)
        for place in places.reversed() {
            bytes.replaceSubrange(place.range, with: place.quote + Array(Redactor.replacement.utf8) + place.quote)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func secrets(_ text: String, _ places: [Redactor.SecretPlace]) -> [String] {
        places.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
    }

    @Test func areWhereABodyIsRedacted() {
        let bodies: [(text: String, secrets: [String])] = [
            (#"{"user":"ada","password":"tea","pin":1234}"#, ["tea", "1234"]),
            ("user=ada&password=green%20tea", ["green%20tea"]),
            ("<pin>1234</pin>", ["1234"]),
            ("GET http://ada:tea@h/ Bearer abc", ["ada:tea", "abc"]),
            (#"{"log":"{\"pin\":1234}"}"#, ["1234"]),
            ("nothing", []),
        ]
        for (text, expected) in bodies {
            let places = Redactor.standard.secretPlaces(inBody: Data(text.utf8))
            #expect(secrets(text, places) == expected)
            #expect(replaced(text, places) == Redactor.standard.redact(body: text))
        }
    }

    @Test func areWhereAURLIsRedacted() throws {
        let text = "https://ada:tea@h/pugs?token=abc&page=2#access_token=def"
        let places = Redactor(queryItemNames: ["page"]).secretPlaces(inURL: text)
        #expect(secrets(text, places) == ["ada:tea", "abc", "2", "def"])
        let url = try #require(URL(string: text))
        #expect(replaced(text, places) == Redactor(queryItemNames: ["page"]).redact(url))
    }

    @Test func areWhereAHeaderFieldIsRedacted() {
        let fields: [(name: HTTPHeaders.Name, value: String, secrets: [String])] = [
            ("Authorization", "Bearer abc", ["abc"]),
            ("X-Api-Key", "abc", ["abc"]),
            ("Cookie", "sid=abc; theme=dark", ["abc", "dark"]),
            ("Set-Cookie", "sid=abc; Path=/", ["abc"]),
            ("Location", "/me?token=abc", ["abc"]),
            ("WWW-Authenticate", "Basic realm=\"x\"", []),
            ("X-Note", "token=abc", ["abc"]),
        ]
        for (name, value, expected) in fields {
            #expect(secrets(value, Redactor.standard.secretPlaces(inValue: value, ofHeader: name)) == expected)
        }
    }

    @Test func areQuotedIfTheSecretIsNot() {
        let texts: [(text: String, quotes: [String])] = [
            (#"{"pin":1234}"#, ["\""]), (#"{"pin":"1234"}"#, [""]), (#"{"log":"{\"pin\":1234}"}"#, [#"\""#]),
            (#"{"token":{"a":1}}"#, ["\""]), ("pin=1234", [""]),
        ]
        for (text, expected) in texts {
            let places = Redactor.standard.secretPlaces(inBody: text.utf8)
            #expect(places.map { String(decoding: $0.quote, as: UTF8.self) } == expected)
        }
    }
}
