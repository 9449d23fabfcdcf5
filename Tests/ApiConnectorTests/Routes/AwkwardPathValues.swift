// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension AwkwardText where Input == String {
    /// As a value in a path: all of it within its segment.
    static let pathValues: [AwkwardText] = [
        .init("a/b", "http://api.example.com:80/v/a%2Fb/end", "a slash starts a segment"),
        .init("/", "http://api.example.com:80/v/%2F/end", "a slash alone"),
        .init("a?b", "http://api.example.com:80/v/a%3Fb/end", "a question mark starts the query"),
        .init("a#b", "http://api.example.com:80/v/a%23b/end", "a number sign starts the fragment"),
        .init("100%", "http://api.example.com:80/v/100%25/end", "a percent sign starts an escape"),
        .init("%2F", "http://api.example.com:80/v/%252F/end", "an escape is data as well"),
        .init("a+b", "http://api.example.com:80/v/a%2Bb/end", "a plus is a space to many servers, in a query"),
        .init("a&b", "http://api.example.com:80/v/a%26b/end", "an ampersand ends an item"),
        .init("a=b", "http://api.example.com:80/v/a%3Db/end", "an equals sign ends a name"),
        .init("a b", "http://api.example.com:80/v/a%20b/end", "a space ends the request line"),
        .init("a\"b", "http://api.example.com:80/v/a%22b/end", "a double quote ends an HTML attribute"),
        .init("a'b", "http://api.example.com:80/v/a%27b/end", "a single quote is a sub-delimiter"),
        .init("a\\b", "http://api.example.com:80/v/a%5Cb/end", "a backslash is a slash to browsers"),
        .init(
            "a:b;c@d,e",
            "http://api.example.com:80/v/a%3Ab%3Bc%40d%2Ce/end",
            "separators of the parts of an authority or a parameter"
        ),
        .init(
            "[]{}|^`<>",
            "http://api.example.com:80/v/%5B%5D%7B%7D%7C%5E%60%3C%3E/end",
            "characters to encode"
        ),
        .init("-._~", "http://api.example.com:80/v/-._~/end", "what RFC 3986 calls unreserved"),
        .init("...", "http://api.example.com:80/v/.../end", "three dots are a plain name"),
        .init("..a", "http://api.example.com:80/v/..a/end", "a name that begins with two dots"),
        .init("", "http://api.example.com:80/v//end", "an empty text"),
        .init(
            "\u{1F469}\u{200D}\u{1F467}",
            "http://api.example.com:80/v/%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7/end",
            "an emoji of three scalars"
        ),
        .init("\u{E9}", "http://api.example.com:80/v/%C3%A9/end", "a composed letter"),
        .init("e\u{301}", "http://api.example.com:80/v/e%CC%81/end", "a decomposed letter is not the composed one"),
        .init(
            "/\u{338}",
            "http://api.example.com:80/v/%2F%CC%B8/end",
            "a slash with a combining mark is one Character and two bytes of the path"
        ),
        .init("=\u{338}", "http://api.example.com:80/v/%3D%CC%B8/end", "an equals sign with a combining mark"),
        .init(
            "\u{37E}",
            "http://api.example.com:80/v/%CD%BE/end",
            "a Greek question mark is equivalent to a semicolon, but is not a semicolon"
        ),
        .init("\u{FF0F}", "http://api.example.com:80/v/%EF%BC%8F/end", "a fullwidth slash is no slash"),
        .init("\u{202E}", "http://api.example.com:80/v/%E2%80%AE/end", "a mark that turns the text around"),
        .init("\0", "http://api.example.com:80/v/%00/end", "NUL ends a C string"),
        .init("\r\n", "http://api.example.com:80/v/%0D%0A/end", "CR and LF end a line of the head"),
        .init(
            "\u{1}\u{2}\t\u{7F}\u{85}",
            "http://api.example.com:80/v/%01%02%09%7F%C2%85/end",
            "other control characters"
        ),
        .init("\u{10FFFF}", "http://api.example.com:80/v/%F4%8F%BF%BF/end", "the last code point"),
    ]
}
