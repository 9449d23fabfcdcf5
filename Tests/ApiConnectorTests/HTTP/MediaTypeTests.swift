// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application/json"),
        ("Application/JSON", "application/json"),
        ("text/html;charset=utf-8", "text/html; charset=utf-8"),
        ("text/html ;\tCharset = \"UTF-8\" ", "text/html; charset=UTF-8"),
        (" text/html ", "text/html"),
        ("text/html;", "text/html"),
        ("text/html;;;a=b;", "text/html; a=b"),
        ("text/html; flag; a=b", "text/html; a=b"),
        ("text/html; a b=c; d=e", "text/html; d=e"),
        ("a/b; c=\"x;y\"; d=\"q\\\"r\\\\s\"", "a/b; c=\"x;y\"; d=\"q\\\"r\\\\s\""),
        ("a/b; c=\"\"", "a/b; c=\"\""),
        ("a/b; c=", "a/b; c=\"\""),
        ("a/b; c=d=e", "a/b; c=\"d=e\""),
        ("a/b; c=d e", "a/b; c=\"d e\""),
        ("multipart/form-data; boundary=a/b", "multipart/form-data; boundary=\"a/b\""),
        ("a/b; c=\"d", "a/b; c=\"\\\"d\""),
        ("*/*;q=0.5", "*/*; q=0.5"),
        ("application/problem+json", "application/problem+json"),
        ("a/b; c=\"\u{301}x\"", "a/b; c=\"\u{301}x\""),
        ("a/b; c=\u{37E}", "a/b; c=\"\u{37E}\""),
        ("a/b; c=\"1\"; C=2", "a/b; c=1; c=2"),
    ])
    func readsAndWrites(_ text: String, _ written: String) throws {
        let type = try #require(MediaType(text))
        #expect(Array(type.description.utf8) == Array(written.utf8))
        #expect(MediaType(type.description) == type)
    }

    @Test(arguments: [
        "", " ", "/", "a/", "/b", "a", "a/b/c", "a b/c", "a/b c", "\"a\"/b", "a\r\n/b", "a/b\u{301}", "é/b", "\0/\0",
        "a/b\u{37E}c=d", "a/b,c/d", ";a=b", "\u{A0}a/b",
    ])
    func refusesInvalidMediaTypes(_ text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test func findsAParameterInAnyCase() throws {
        let type = try #require(MediaType("a/b; Charset=x; charset=y"))
        #expect(type[parameter: "CHARSET"] == "x")
        #expect(type[parameter: "q"] == nil)
        #expect(MediaType("A", "B", parameters: [.init(name: "C", value: "D")]).description == "a/b; c=D")
    }

    @Test(arguments: [
        ("application/json", true), ("text/json", true), ("application/problem+json", true),
        ("application/vnd.api+json; charset=utf-8", true), ("image/json", false), ("application/jsonx", false),
        ("application/json-seq", false), ("application/x-ndjson", false), ("text/plain", false),
    ])
    func knowsJSON(_ text: String, _ isJSON: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == isJSON)
    }

    @Test(arguments: [
        ("text/html", "*/*", true), ("text/html", "text/*", true), ("text/html", "text/html", true),
        ("text/html", "image/*", false), ("text/html", "text/plain", false), ("text/html", "*/html", true),
        ("application/problem+json", "application/*+json", true), ("application/json", "application/*+json", false),
        ("text/x+json", "application/*+json", false), ("application/x+xml", "application/*+json", false),
        ("text/html", "text/html;q=0.1", true), ("text/html", "text/html;level=1", false),
        ("text/html;level=1;a=b", "text/html;LEVEL=1", true), ("text/html;level=2", "text/html;level=1", false),
        ("text/html;charset=UTF-8", "text/html;charset=utf-8", true),
    ])
    func matchesRanges(_ text: String, _ range: String, _ isMatch: Bool) throws {
        #expect(try #require(MediaType(text)).matches(try #require(MediaType(range))) == isMatch)
    }

    @Test(arguments: [
        ("text/html, application/json;q=0.9 ,*/*;q=0.1", ["text/html", "application/json; q=0.9", "*/*; q=0.1"]),
        ("a/b;c=\"x,y\",d/e", ["a/b; c=\"x,y\"", "d/e"]),
        ("", []), (",,", []), ("garbage, a/b", ["a/b"]),
    ])
    func readsTheRangesOfAnAcceptField(_ text: String, _ ranges: [String]) {
        #expect(MediaType.ranges(in: text).map(\.description) == ranges)
    }
}
