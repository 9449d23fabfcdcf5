// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct WebLinkTests {
    private static let base = "http://api.example.com/a/b?c=1#d"

    /// Each link as a line: relations, target, attributes, and the context where it is not the response.
    private func lines(_ fields: [String], base: String = base) throws -> [String] {
        let url = try #require(URL(string: base))
        var headers = HTTPHeaders()
        for field in fields { headers.append(.link, field) }
        return WebLink.links(in: headers, of: url).map { link in
            let attributes = link.attributes.map { " \($0.name)=[\($0.value)]" }.joined()
            let context = link.context == url ? "" : " of \(link.context)"
            return "\(link.relations.joined(separator: "+")) \(link.target)\(attributes)\(context)"
        }
    }

    private static let rows: [(String, [String])] = [
        ("", []),
        // As the RFC's own examples have them, section 3.5.
        (
            #"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#,
            ["previous http://example.com/TheBook/chapter2 title=[previous chapter]"]
        ),
        (
            "</a>; rel=next; title*=UTF-8''%C3%A4%4A%7f, </b>; rel=next; title*=UTF-8''%G0, </c>; rel=next; title*=UTF-8''%4",
            [
                "next http://api.example.com/a title=[äJ\u{7F}]", "next http://api.example.com/b",
                "next http://api.example.com/c",
            ]
        ),
        (#"</>; rel="http://example.net/foo""#, ["http://example.net/foo http://api.example.com/"]),
        (
            ##"</terms>; rel="copyright"; anchor="#foo""##,
            ["copyright http://api.example.com/terms of http://api.example.com/a/b?c=1#foo"]
        ),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, "
                + "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [
                "previous http://api.example.com/TheBook/chapter2 title=[letztes Kapitel]",
                "next http://api.example.com/TheBook/chapter4 title=[nächstes Kapitel]",
            ]
        ),
        (
            #"<http://example.org/>; rel="start http://example.net/relation/other""#,
            ["start+http://example.net/relation/other http://example.org/"]
        ),
        (
            #"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#,
            ["start https://example.org/", "index https://example.org/index"]
        ),
        // Without quotes, in any case, with several relations and blanks.
        ("<x>;rel=next", ["next http://api.example.com/a/x"]),
        ("<x>;REL=Next", ["next http://api.example.com/a/x"]),
        ("\t <x> \t;\t rel \t= \t\"  next\t prev \" ", ["next+prev http://api.example.com/a/x"]),
        (
            "<x>; rel=next ; type=text/html , <y>; rel=prev",
            [
                "next http://api.example.com/a/x type=[text/html]", "prev http://api.example.com/a/y",
            ]
        ),
        // Commas, semicolons, quotes and angles in quotes and in URLs.
        (
            #"<x?a=1,2;b>; title="a, <b>; rel=\"no\" \\"; rel="next", <y>; rel=prev"#,
            [#"next http://api.example.com/a/x?a=1,2;b title=[a, <b>; rel="no" \]"#, "prev http://api.example.com/a/y"]
        ),
        // Without relation it is no link; of two relations, anchors or titles the first counts, others repeat.
        ("<x>, <y>; rel, <z>; rel=\"\", <w>; title=next", []),
        (
            "<x>; rel=a; rel=b; title=c; title=d; type=e; type=f; media=g; media=h; hreflang=i; hreflang=j; anchor=k; anchor=l",
            [
                "a http://api.example.com/a/x title=[c] type=[e] media=[g] hreflang=[i] hreflang=[j] "
                    + "of http://api.example.com/a/k"
            ]
        ),
        // RFC 8187: it stands for the plain one, wherever it is, unless it does not decode.
        ("<x>; rel=a; title*=utf-8''%e2%82%ac%20%22; title=euro", ["a http://api.example.com/a/x title=[€ \"]"]),
        ("<x>; rel=a; title=euro; title*=\"UTF-8'en'a,b\"", ["a http://api.example.com/a/x title=[a,b]"]),
        ("<x>; rel=a; title=euro; title*=UTF-8''%zz", ["a http://api.example.com/a/x title=[euro]"]),
        ("<x>; rel=a; title=euro; title*=UTF-8''%e2%82", ["a http://api.example.com/a/x title=[euro]"]),
        (
            "<x>; rel=a; title=euro; title*=latin-9''x; foo*=UTF-8''b",
            ["a http://api.example.com/a/x title=[euro] foo=[b]"]
        ),
        ("<x>; rel=a; title*=plain", ["a http://api.example.com/a/x"]),
        ("<x>; rel=a; *=UTF-8''b; *", ["a http://api.example.com/a/x"]),
        ("<x>; rel*=UTF-8''b; anchor*=UTF-8''c; rel=a", ["a http://api.example.com/a/x"]),
        // References, resolved as RFC 3986 says.
        ("<>; rel=self", ["self http://api.example.com/a/b?c=1"]),
        ("<?page=2>; rel=next", ["next http://api.example.com/a/b?page=2"]),
        ("<../../up>; rel=next", ["next http://api.example.com/up"]),
        ("<//other.example.com/x>; rel=next", ["next http://other.example.com/x"]),
        ("<#part>; rel=next", ["next http://api.example.com/a/b?c=1#part"]),
        ("< x >; rel=next", ["next http://api.example.com/a/x"]),
        ("<mailto:a@example.com>; rel=author", ["author mailto:a@example.com"]),
        // Faults: the links before them are given; empty parts of the list are ignored.
        (
            ",, <x>; rel=next,,\t, <y>; rel=prev,",
            ["next http://api.example.com/a/x", "prev http://api.example.com/a/y"]
        ),
        ("<x>; rel=next, y; rel=prev", ["next http://api.example.com/a/x"]),
        ("<x>; rel=next, <y; rel=prev", ["next http://api.example.com/a/x"]),
        ("<x>; rel=\"next\" junk, <y>; rel=prev", ["next http://api.example.com/a/x"]),
        ("<x>; rel=\"next", ["next http://api.example.com/a/x"]),
        ("<x>; rel=\"next\\", ["next http://api.example.com/a/x"]),
        ("<x>;;; = ; =y; rel=next;", ["next http://api.example.com/a/x"]),
        ("x; rel=next", []),
        ("<x> rel=next", []),
    ]

    @Test(arguments: rows)
    func areReadAsTheStandardSays(_ field: String, _ expected: [String]) throws {
        #expect(try lines([field]) == expected)
    }

    @Test func comeFromSeveralFieldsEvenIfOneIsInvalid() throws {
        let found = try lines(["<x>; rel=first", "oh <y>; rel=prev", "<z>; rel=next, <w>; rel=last"])
        #expect(found.map { $0.prefix { $0 != " " } } == ["first", "next", "last"])
    }

    @Test func compareRelationsAndAttributesIgnoringCase() throws {
        let url = try #require(URL(string: Self.base))
        let head = ResponseHead(
            status: 200,
            headers: ["Link": "</x>; rel=\"Next https://example.com/Rel\"; Type=\"text/html\""],
            url: url
        )
        let link = try #require(head.links.first)
        #expect(head.links.count == 1)
        #expect(link.has(relation: "NEXT") && link.has(relation: "https://example.com/rel") && !link.has(relation: "x"))
        #expect(link[attribute: "type"] == "text/html" && link[attribute: "TYPE"] == "text/html")
        #expect(link[attribute: "title"] == nil)
    }

    @Test func areParsedAsTheyWereWritten() throws {
        let url = try #require(URL(string: Self.base))
        var random = SplitMix64.printed()
        var texts = HostileText(random)
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount / 4 {
            let links = (0..<Int.random(in: 0...3, using: &random)).map { number in
                let attributes = (0..<Int.random(in: 0...3, using: &random)).map {
                    WebLink.Attribute(name: "x\($0)", value: texts.next().withoutControlCharacters())
                }
                return WebLink(
                    target: url.appending(path: "\(number)"),
                    relations: (0...number).map { "rel-\($0)" },
                    context: url,
                    attributes: attributes
                )
            }
            let field = links.map { $0.printed(starred: Bool.random(using: &random)) }.joined(separator: " , ")
            if WebLink.links(in: ["Link": field], of: url) != links { failures.append(field) }
        }
        #expect(failures.isEmpty, "\(failures.prefix(3))")
    }

    @Test func parsesInLinearTime() throws {
        // Not timed: a quadratic reader would not end.
        let url = try #require(URL(string: Self.base))
        let field = String(repeating: "<x>; rel=next; a=\"\\\\,\", ", count: 5_000)
        #expect(WebLink.links(in: ["Link": field], of: url).count == 5_000)
    }
}

extension WebLink {
    fileprivate func printed(starred: Bool) -> String {
        var text = "<\(target)>; rel=\"\(relations.joined(separator: " "))\""
        for attribute in attributes {
            if starred {
                let value = attribute.value.utf8.map { byte in
                    let digits = String(byte, radix: 16)
                    return "%" + (digits.count < 2 ? "0" : "") + digits
                }
                text += "; \(attribute.name)*=UTF-8'en'\(value.joined())"
            } else {
                var bytes: [UInt8] = []
                for byte in attribute.value.utf8 {
                    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                    bytes.append(byte)
                }
                text += "; \(attribute.name)=\"\(String(decoding: bytes, as: UTF8.self))\""
            }
        }
        return text
    }
}
