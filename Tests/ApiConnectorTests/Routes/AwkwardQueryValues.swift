// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension AwkwardText where Input == String {
    /// As the value of a query item.
    static let queryValues: [AwkwardText] = [
        .init("a/b", "http://api.example.com:80/q?n=a%2Fb", "a slash starts a segment"),
        .init("/", "http://api.example.com:80/q?n=%2F", "a slash alone"),
        .init("a?b", "http://api.example.com:80/q?n=a%3Fb", "a question mark starts the query"),
        .init("a#b", "http://api.example.com:80/q?n=a%23b", "a number sign starts the fragment"),
        .init("100%", "http://api.example.com:80/q?n=100%25", "a percent sign starts an escape"),
        .init("%2F", "http://api.example.com:80/q?n=%252F", "an escape is data as well"),
        .init("a+b", "http://api.example.com:80/q?n=a%2Bb", "a plus is a space to many servers, in a query"),
        .init("a&b", "http://api.example.com:80/q?n=a%26b", "an ampersand ends an item"),
        .init("a=b", "http://api.example.com:80/q?n=a%3Db", "an equals sign ends a name"),
        .init("a b", "http://api.example.com:80/q?n=a%20b", "a space ends the request line"),
        .init("a\"b", "http://api.example.com:80/q?n=a%22b", "a double quote ends an HTML attribute"),
        .init("a'b", "http://api.example.com:80/q?n=a%27b", "a single quote is a sub-delimiter"),
        .init("a\\b", "http://api.example.com:80/q?n=a%5Cb", "a backslash is a slash to browsers"),
        .init(
            "a:b;c@d,e",
            "http://api.example.com:80/q?n=a%3Ab%3Bc%40d%2Ce",
            "separators of the parts of an authority or a parameter"
        ),
        .init(
            "[]{}|^`<>",
            "http://api.example.com:80/q?n=%5B%5D%7B%7D%7C%5E%60%3C%3E",
            "characters to encode"
        ),
        .init("-._~", "http://api.example.com:80/q?n=-._~", "what RFC 3986 calls unreserved"),
        .init("...", "http://api.example.com:80/q?n=...", "three dots are a plain name"),
        .init("..a", "http://api.example.com:80/q?n=..a", "a name that begins with two dots"),
        .init("", "http://api.example.com:80/q?n=", "an empty text"),
        .init(
            "\u{1F469}\u{200D}\u{1F467}",
            "http://api.example.com:80/q?n=%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7",
            "an emoji of three scalars"
        ),
        .init("\u{E9}", "http://api.example.com:80/q?n=%C3%A9", "a composed letter"),
        .init("e\u{301}", "http://api.example.com:80/q?n=e%CC%81", "a decomposed letter is not the composed one"),
        .init(
            "/\u{338}",
            "http://api.example.com:80/q?n=%2F%CC%B8",
            "a slash with a combining mark is one Character and two bytes of the path"
        ),
        .init("=\u{338}", "http://api.example.com:80/q?n=%3D%CC%B8", "an equals sign with a combining mark"),
        .init(
            "\u{37E}",
            "http://api.example.com:80/q?n=%CD%BE",
            "a Greek question mark is equivalent to a semicolon, but is not a semicolon"
        ),
        .init("\u{FF0F}", "http://api.example.com:80/q?n=%EF%BC%8F", "a fullwidth slash is no slash"),
        .init("\u{202E}", "http://api.example.com:80/q?n=%E2%80%AE", "a mark that turns the text around"),
        .init("\0", "http://api.example.com:80/q?n=%00", "NUL ends a C string"),
        .init("\r\n", "http://api.example.com:80/q?n=%0D%0A", "CR and LF end a line of the head"),
        .init(
            "\u{1}\u{2}\t\u{7F}\u{85}",
            "http://api.example.com:80/q?n=%01%02%09%7F%C2%85",
            "other control characters"
        ),
        .init("\u{10FFFF}", "http://api.example.com:80/q?n=%F4%8F%BF%BF", "the last code point"),
    ]
}
