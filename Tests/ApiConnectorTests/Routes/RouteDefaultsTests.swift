// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RouteDefaultsTests {
    enum Named: String, ApiEnvironment {
        case localhost
        case production = "api.example.com"
    }

    enum Short: String, ApiRouter {
        typealias EnvironmentType = Named
        case me
        case feed = "/feed/all"
    }

    struct Minimal: ApiEnvironment {
        let host = "h"
    }

    @Test func usesRawValuesAsHostAndPath() {
        #expect(Short.me.url(for: .localhost).absoluteString == "http://localhost:80/me")
        #expect(Short.feed.url(for: .production).absoluteString == "http://api.example.com:80/feed/all")
    }

    @Test func needsOnlyAHost() {
        let place = Minimal()
        #expect(place.scheme == .http)
        #expect(place.port == 80)
        #expect(place.basePath == "")
        #expect(place.defaultHeaders == HTTPHeaders())
    }

    @Test func needsOnlyAPath() {
        #expect(Short.me.method == .get)
        #expect(Short.me.queryItems == nil)
        #expect(Short.me.headers == HTTPHeaders())
        #expect(Short.me.body.isEmpty)
    }

    @Test func usesThePortOfTheScheme() {
        struct Secure: ApiEnvironment {
            let host = "h"
            let scheme = HTTPScheme.https
        }
        #expect(Secure().port == 443)
    }

    @Test func printsThePortUnlessItIsNil() {
        let route = Endpoint(text: "/me")
        #expect(route.text(in: Place(port: 80)) == "http://api.example.com:80/me")
        #expect(route.text(in: Place(port: 8080)) == "http://api.example.com:8080/me")
        #expect(route.text(in: Place(port: nil)) == "http://api.example.com/me")
        #expect(route.text(in: Place(scheme: .https, port: 443)) == "https://api.example.com:443/me")
        #expect(route.text(in: Place(host: "::1", port: nil)) == "http://[::1]/me")
    }

    @Test(arguments: ["v1", "/v1", "v1/", "/v1/", "/v1//"])
    func putsOneSlashAroundABasePath(_ base: String) {
        #expect(Endpoint(text: "/me").text(in: Place(basePath: base)) == "http://api.example.com:80/v1/me")
        #expect(Endpoint(text: "me").text(in: Place(basePath: base)) == "http://api.example.com:80/v1/me")
        #expect(Endpoint(text: "").text(in: Place(basePath: base)) == "http://api.example.com:80/v1")
        #expect(Endpoint(text: "/").text(in: Place(basePath: base)) == "http://api.example.com:80/v1/")
    }

    @Test func keepsTheSegmentsOfABasePath() {
        let place = Place(basePath: "/a//b c/ü")
        #expect(Endpoint(text: "/me").text(in: place) == "http://api.example.com:80/a//b%20c/%C3%BC/me")
    }

    @Test func treatsABasePathOfASlashAsNone() {
        #expect(Endpoint(text: "/me").text(in: Place(basePath: "/")) == "http://api.example.com:80/me")
    }

    @Test func writesAnEmptyPathAsNone() {
        #expect(Endpoint(text: "").text() == "http://api.example.com:80")
        #expect(Endpoint("").text() == "http://api.example.com:80")
        let query = [URLQueryItem(name: "a", value: "b")]
        #expect(Endpoint(text: "", query: query).text() == "http://api.example.com:80?a=b")
    }

    @Test func keepsEmptySegments() {
        #expect(Endpoint(text: "//a///b/").text() == "http://api.example.com:80//a///b/")
        #expect(Endpoint("/a/\("")/b").text() == "http://api.example.com:80/a//b")
        #expect(Endpoint("\("")/b").text() == "http://api.example.com:80//b")
        #expect(Endpoint("\("")").text() == "http://api.example.com:80/")
        #expect(Endpoint("\(ApiPath(""))\("")/b").text() == "http://api.example.com:80//b")
    }

    @Test func writesNoQuestionMarkWithoutItems() {
        #expect(Endpoint(text: "/me", query: nil).text() == "http://api.example.com:80/me")
        #expect(Endpoint(text: "/me", query: []).text() == "http://api.example.com:80/me")
    }

    @Test func keepsTheOrderOfItemsAndThoseWithoutAValue() {
        let query = [
            URLQueryItem(name: "b", value: "1"), URLQueryItem(name: "a", value: nil),
            URLQueryItem(name: "b", value: ""), URLQueryItem(name: "", value: nil),
        ]
        #expect(Endpoint(text: "/me", query: query).text() == "http://api.example.com:80/me?b=1&a&b=&")
    }
}
