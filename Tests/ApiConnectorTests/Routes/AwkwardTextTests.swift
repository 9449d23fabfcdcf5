// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct AwkwardTextTests {
    @Test(arguments: AwkwardText.pathValues)
    func keepsAValueWithinItsSegment(_ row: AwkwardText<String>) {
        #expect(Endpoint("/v/\(row.input)/end").text() == row.url)
    }

    @Test(arguments: AwkwardText.literals)
    func takesALiteralAsText(_ row: AwkwardText<ApiPath>) {
        #expect(Endpoint(row.input).text() == row.url)
    }

    @Test(arguments: AwkwardText.stringPaths)
    func splitsAStringPathOnlyAtItsSlashes(_ row: AwkwardText<String>) {
        #expect(Endpoint(text: row.input).text() == row.url)
    }

    @Test(arguments: AwkwardText.queryNames)
    func keepsTheNameOfAQueryItem(_ row: AwkwardText<String>) {
        let query = [URLQueryItem(name: row.input, value: "1")]
        #expect(Endpoint(text: "/q", query: query).text() == row.url)
    }

    @Test(arguments: AwkwardText.queryValues)
    func keepsTheValueOfAQueryItem(_ row: AwkwardText<String>) {
        let query = [URLQueryItem(name: "n", value: row.input)]
        #expect(Endpoint(text: "/q", query: query).text() == row.url)
    }

    @Test(arguments: AwkwardText.basePaths)
    func takesABasePathAsText(_ row: AwkwardText<String>) {
        #expect(Endpoint(text: "/me").text(in: Place(basePath: row.input)) == row.url)
    }

    @Test(arguments: AwkwardText.encodedPaths)
    func keepsTheEscapesOfAnEncodedPath(_ row: AwkwardText<String>) {
        #expect(Endpoint(ApiPath(alreadyEncoded: row.input)).text() == row.url)
    }

    @Test(arguments: ["/", " ", "é", "a"])
    func writesAHundredKilobytes(_ character: String) throws {
        let text = String(repeating: character, count: 100 * 1024)
        let escaped = ["/": "%2F", " ": "%20", "é": "%C3%A9", "a": "a"]
        let encoded = String(repeating: try #require(escaped[character]), count: 100 * 1024)
        let route = Endpoint(path: "/v/\(text)" as ApiPath, queryItems: [URLQueryItem(name: text, value: text)])
        #expect(route.text() == "http://api.example.com:80/v/\(encoded)?\(encoded)=\(encoded)")
    }

    @Test func writesFiftyThousandSegmentsOfDots() {
        let text = String(repeating: "/..", count: 50_000)
        #expect(Endpoint(text: text).text() == "http://api.example.com:80" + text.replacing("..", with: "%2E%2E"))
    }

    @Test func fixesOnlyTheInvalidEscapesOfAnEncodedPath() {
        let path = ApiPath(alreadyEncoded: "/a%20b/100%/%zz/%4/%4a%C3%A9é%")
        #expect(Endpoint(path).text() == "http://api.example.com:80/a%20b/100%25/%25zz/%254/%4a%C3%A9%C3%A9%25")
    }

    @Test func encodesTheQueryAndTheFragmentOfAnEncodedPath() {
        let path = ApiPath(alreadyEncoded: "a?b=1#c")
        #expect(Endpoint(path).text() == "http://api.example.com:80/a%3Fb=1%23c")
    }
}
