// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct ApiPathTests {
    enum Sort: String {
        case newest = "new/est"
    }

    enum Described: String, CustomStringConvertible {
        case case1 = "raw"
        var description: String { "description" }
    }

    private func text(_ path: ApiPath) -> String { path.description }

    @Test func takesValuesOfManyTypes() throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(text("/\(7)/\(-1)/\(1.5)/\(true)") == "/7/-1/1.5/true")
        #expect(text("/\(id)") == "/E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(text("/\("a/b".prefix(3))/\("/" as Character)") == "/a%2Fb/%2F")
        #expect(text("/\(Sort.newest)") == "/new%2Fest")
    }

    @Test func prefersTheRawValueToTheDescription() {
        #expect(text("/\(Described.case1)/\(HTTPMethod.get)") == "/raw/GET")
    }

    @Test func takesAPathWithItsSlashes() {
        let author: ApiPath = "/authors/\("a/b")"
        #expect(text("\(author)/posts/\(7)") == "/authors/a%2Fb/posts/7")
        #expect(text("\(ApiPath(alreadyEncoded: "/a%2Fb"))/c") == "/a%2Fb/c")
        #expect(text("/v1\(ApiPath(segment: "a/b"))") == "/v1/a%2Fb")
    }

    @Test func makesOneSegmentOfAText() {
        #expect(ApiPath(segment: "a/b?c").description == "/a%2Fb%3Fc")
        #expect(ApiPath(segment: "").description == "/")
    }

    @Test func isEqualToAPathWithTheSameURL() {
        let author = "jane"
        #expect("/authors/\(author)" as ApiPath == "/authors/jane")
        #expect(("/authors/\(author)" as ApiPath).hashValue == ("/authors/jane" as ApiPath).hashValue)
        #expect(ApiPath(alreadyEncoded: "/a%20b") == "/a b")
        #expect("/\("a/b")" as ApiPath != "/a/b")
        #expect("/\("é")" as ApiPath != "/\("e\u{301}")")
    }

    @Test func addsAMissingLeadingSlash() {
        #expect(Endpoint("me").text() == "http://api.example.com:80/me")
        #expect(Endpoint("\("me")").text() == "http://api.example.com:80/me")
        #expect(Endpoint(ApiPath(alreadyEncoded: "me")).text() == "http://api.example.com:80/me")
    }
}
