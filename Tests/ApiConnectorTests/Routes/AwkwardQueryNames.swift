// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension AwkwardText where Input == String {
    /// As the name of a query item.
    static let queryNames: [AwkwardText] = [
        .init("a/b", "http://api.example.com:80/q?a%2Fb=1", "a slash starts a segment"),
        .init("/", "http://api.example.com:80/q?%2F=1", "a slash alone"),
        .init("a?b", "http://api.example.com:80/q?a%3Fb=1", "a question mark starts the query"),
        .init("a#b", "http://api.example.com:80/q?a%23b=1", "a number sign starts the fragment"),
        .init("100%", "http://api.example.com:80/q?100%25=1", "a percent sign starts an escape"),
        .init("%2F", "http://api.example.com:80/q?%252F=1", "an escape is data as well"),
        .init("a+b", "http://api.example.com:80/q?a%2Bb=1", "a plus is a space to many servers, in a query"),
        .init("a&b", "http://api.example.com:80/q?a%26b=1", "an ampersand ends an item"),
        .init("a=b", "http://api.example.com:80/q?a%3Db=1", "an equals sign ends a name"),
        .init("a b", "http://api.example.com:80/q?a%20b=1", "a space ends the request line"),
        .init("a\"b", "http://api.example.com:80/q?a%22b=1", "a double quote ends an HTML attribute"),
        .init("a'b", "http://api.example.com:80/q?a%27b=1", "a single quote is a sub-delimiter"),
        .init("a\\b", "http://api.example.com:80/q?a%5Cb=1", "a backslash is a slash to browsers"),
        .init(
            "a:b;c@d,e",
            "http://api.example.com:80/q?a%3Ab%3Bc%40d%2Ce=1",
            "separators of the parts of an authority or a parameter"
        ),
        .init(
            "[]{}|^`<>",
            "http://api.example.com:80/q?%5B%5D%7B%7D%7C%5E%60%3C%3E=1",
            "characters to encode"
        ),
        .init("-._~", "http://api.example.com:80/q?-._~=1", "what RFC 3986 calls unreserved"),
        .init("...", "http://api.example.com:80/q?...=1", "three dots are a plain name"),
        .init("..a", "http://api.example.com:80/q?..a=1", "a name that begins with two dots"),
        .init("", "http://api.example.com:80/q?=1", "an empty text"),
        .init(
            "\u{1F469}\u{200D}\u{1F467}",
            "http://api.example.com:80/q?%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7=1",
            "an emoji of three scalars"
        ),
        .init("\u{E9}", "http://api.example.com:80/q?%C3%A9=1", "a composed letter"),
        .init("e\u{301}", "http://api.example.com:80/q?e%CC%81=1", "a decomposed letter is not the composed one"),
        .init(
            "/\u{338}",
            "http://api.example.com:80/q?%2F%CC%B8=1",
            "a slash with a combining mark is one Character and two bytes of the path"
        ),
        .init("=\u{338}", "http://api.example.com:80/q?%3D%CC%B8=1", "an equals sign with a combining mark"),
        .init(
            "\u{37E}",
            "http://api.example.com:80/q?%CD%BE=1",
            "a Greek question mark is equivalent to a semicolon, but is not a semicolon"
        ),
        .init("\u{FF0F}", "http://api.example.com:80/q?%EF%BC%8F=1", "a fullwidth slash is no slash"),
        .init("\u{202E}", "http://api.example.com:80/q?%E2%80%AE=1", "a mark that turns the text around"),
        .init("\0", "http://api.example.com:80/q?%00=1", "NUL ends a C string"),
        .init("\r\n", "http://api.example.com:80/q?%0D%0A=1", "CR and LF end a line of the head"),
        .init(
            "\u{1}\u{2}\t\u{7F}\u{85}",
            "http://api.example.com:80/q?%01%02%09%7F%C2%85=1",
            "other control characters"
        ),
        .init("\u{10FFFF}", "http://api.example.com:80/q?%F4%8F%BF%BF=1", "the last code point"),
    ]
}
