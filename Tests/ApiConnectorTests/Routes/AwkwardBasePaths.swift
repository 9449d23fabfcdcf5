// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension AwkwardText where Input == String {
    /// As a base path: a slash in front, none behind.
    static let basePaths: [AwkwardText] = [
        .init("a/b", "http://api.example.com:80/a/b/me", "a slash starts a segment"),
        .init("/", "http://api.example.com:80/me", "a slash alone"),
        .init("a?b", "http://api.example.com:80/a%3Fb/me", "a question mark starts the query"),
        .init("a#b", "http://api.example.com:80/a%23b/me", "a number sign starts the fragment"),
        .init("100%", "http://api.example.com:80/100%25/me", "a percent sign starts an escape"),
        .init("%2F", "http://api.example.com:80/%252F/me", "an escape is data as well"),
        .init("a+b", "http://api.example.com:80/a+b/me", "a plus is a space to many servers, in a query"),
        .init("a&b", "http://api.example.com:80/a&b/me", "an ampersand ends an item"),
        .init("a=b", "http://api.example.com:80/a=b/me", "an equals sign ends a name"),
        .init("a b", "http://api.example.com:80/a%20b/me", "a space ends the request line"),
        .init("a\"b", "http://api.example.com:80/a%22b/me", "a double quote ends an HTML attribute"),
        .init("a'b", "http://api.example.com:80/a'b/me", "a single quote is a sub-delimiter"),
        .init("a\\b", "http://api.example.com:80/a%5Cb/me", "a backslash is a slash to browsers"),
        .init(
            "a:b;c@d,e",
            "http://api.example.com:80/a:b;c@d,e/me",
            "separators of the parts of an authority or a parameter"
        ),
        .init("[]{}|^`<>", "http://api.example.com:80/%5B%5D%7B%7D%7C%5E%60%3C%3E/me", "characters to encode"),
        .init("-._~", "http://api.example.com:80/-._~/me", "what RFC 3986 calls unreserved"),
        .init("...", "http://api.example.com:80/.../me", "three dots are a plain name"),
        .init("..a", "http://api.example.com:80/..a/me", "a name that begins with two dots"),
        .init("", "http://api.example.com:80/me", "an empty text"),
        .init(
            "\u{1F469}\u{200D}\u{1F467}",
            "http://api.example.com:80/%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7/me",
            "an emoji of three scalars"
        ),
        .init("\u{E9}", "http://api.example.com:80/%C3%A9/me", "a composed letter"),
        .init("e\u{301}", "http://api.example.com:80/e%CC%81/me", "a decomposed letter is not the composed one"),
        .init(
            "/\u{338}",
            "http://api.example.com:80/%CC%B8/me",
            "a slash with a combining mark is one Character and two bytes of the path"
        ),
        .init("=\u{338}", "http://api.example.com:80/=%CC%B8/me", "an equals sign with a combining mark"),
        .init(
            "\u{37E}",
            "http://api.example.com:80/%CD%BE/me",
            "a Greek question mark is equivalent to a semicolon, but is not a semicolon"
        ),
        .init("\u{FF0F}", "http://api.example.com:80/%EF%BC%8F/me", "a fullwidth slash is no slash"),
        .init("\u{202E}", "http://api.example.com:80/%E2%80%AE/me", "a mark that turns the text around"),
        .init("\0", "http://api.example.com:80/%00/me", "NUL ends a C string"),
        .init("\r\n", "http://api.example.com:80/%0D%0A/me", "CR and LF end a line of the head"),
        .init(
            "\u{1}\u{2}\t\u{7F}\u{85}",
            "http://api.example.com:80/%01%02%09%7F%C2%85/me",
            "other control characters"
        ),
        .init("\u{10FFFF}", "http://api.example.com:80/%F4%8F%BF%BF/me", "the last code point"),
    ]
}
