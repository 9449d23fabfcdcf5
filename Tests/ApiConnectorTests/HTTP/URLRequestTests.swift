// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct URLRequestTests {
    private func url(_ text: String = "http://h:80/me?a=b%2Bc") throws -> URL {
        try #require(URL(string: text))
    }

    @Test func hasURLMethodFieldsAndBody() throws {
        let request = ApiRequest(
            url: try url(),
            method: .patch,
            headers: ["Content-Type": "text/plain", "X-A": "1"],
            body: .data(Data("body".utf8))
        )
        let converted = try URLRequest(request)
        #expect(converted.url?.absoluteString == "http://h:80/me?a=b%2Bc")
        #expect(converted.httpMethod == "PATCH")
        #expect(converted.allHTTPHeaderFields == ["Content-Type": "text/plain", "X-A": "1"])
        #expect(converted.httpBody == Data("body".utf8))
    }

    @Test func joinsFieldsThatRepeat() throws {
        let headers: HTTPHeaders = ["X-A": "1", "B": "2", "x-a": "3", "Cookie": "a=1", "cookie": "b=2"]
        let converted = try URLRequest(ApiRequest(url: try url(), headers: headers))
        #expect(converted.value(forHTTPHeaderField: "X-A") == "1,3")
        #expect(converted.value(forHTTPHeaderField: "B") == "2")
        #expect(converted.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
    }

    @Test func namesTheTypeOfABody() throws {
        let bytes = try URLRequest(ApiRequest(url: try url(), method: .post, body: .data(Data([1]))))
        #expect(bytes.value(forHTTPHeaderField: "Content-Type") == "application/octet-stream")
        let text = try URLRequest(ApiRequest(url: try url(), method: .post, body: .text("a")))
        #expect(text.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
        let none = try URLRequest(ApiRequest(url: try url()))
        #expect(none.value(forHTTPHeaderField: "Content-Type") == nil)
        #expect(none.httpBody == nil)
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE", "M-SEARCH"])
    func keepsEveryMethod(_ method: String) throws {
        let converted = try URLRequest(ApiRequest(url: try url(), method: HTTPMethod(rawValue: method)))
        #expect(converted.httpMethod == method)
        #expect(try ApiRequest(converted).method.rawValue == method)
    }

    @Test func refusesARequestThatMustNotBeSent() throws {
        let request = ApiRequest(url: try url(), headers: ["A": "1\r\nB: 2"])
        let error = try #require(throws: ApiConnectorError.self) { try URLRequest(request) }
        #expect(error.kind == .invalidRequest)
    }

    @Test func saysWhyABodyDoesNotEncode() throws {
        let request = ApiRequest(url: try url("http://h/"), method: .post, body: .json(["a": Double.nan]))
        let error = try #require(throws: ApiConnectorError.self) { try URLRequest(request) }
        #expect(error.kind == .encodingFailed)
        #expect(
            error.description == "POST http://h/ failed (encodingFailed): the body, a value of type "
                + "Dictionary<String, Double>, does not encode as JSON: at \"a\", a value of type Double: "
                + "Unable to encode Double.nan directly in JSON. Nothing was sent."
        )
    }

    @Test func canBeMadeFromAURLRequest() throws {
        var original = URLRequest(url: try url())
        original.httpMethod = "PUT"
        original.httpBody = Data("{}".utf8)
        original.setValue("application/json", forHTTPHeaderField: "content-type")
        original.setValue("2", forHTTPHeaderField: "B")
        original.addValue("1", forHTTPHeaderField: "A")
        let request = try ApiRequest(original)
        #expect(request.url.absoluteString == "http://h:80/me?a=b%2Bc")
        #expect(request.method == .put)
        #expect(request.headers.values("A") == ["1"])
        #expect(request.headers.values("B") == ["2"])
        #expect(request.headers.values(.contentType) == ["application/json"])
        #expect(try request.body.data() == Data("{}".utf8))
        #expect(request.body.mediaType == .json)
        #expect(request.route == nil)
    }

    @Test func convertsBothWaysWithoutChange() throws {
        let headers: HTTPHeaders = ["A": "1", "B": "2", "Content-Type": "application/json"]
        let request = ApiRequest(url: try url(), method: .post, headers: headers, body: .text("{}", mediaType: .json))
        let back = try ApiRequest(try URLRequest(request))
        #expect(back.url == request.url)
        #expect(back.method == request.method)
        #expect(back.headers == request.headers)
        #expect(try back.body.data() == Data("{}".utf8))
        #expect(back.body.mediaType == .json)
    }

    @Test func aURLRequestWithoutABodyHasAnEmptyBody() throws {
        let request = try ApiRequest(URLRequest(url: try url()))
        #expect(request.method == .get)
        #expect(request.body.isEmpty)
    }

    @Test func refusesAURLRequestWithoutAURL() throws {
        var original = URLRequest(url: try url())
        original.url = nil
        let error = try #require(throws: ApiConnectorError.self) { try ApiRequest(original) }
        #expect(error.kind == .invalidRequest)
        #expect(
            error.description == "The call failed (invalidRequest): the URLRequest has no URL. "
                + "Nothing was sent; fix the route, the environment or the header."
        )
    }
}
