// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

struct FaultKeyTests {
    private func key(_ url: String, body: RequestBody = .empty, method: HTTPMethod = .post) throws -> String {
        ExchangeKey(ApiRequest(url: try #require(URL(string: url)), method: method, body: body)).full
    }

    @Test func namesMethodPathAndQueryAndNoServer() throws {
        #expect(try key("http://127.0.0.1:4711/teas/1?x=a%20b", method: .get) == "GET /teas/1?x=a%20b")
        #expect(try key("https://a.example.com", method: .get) == "GET /")
    }

    @Test func holdsNoSecret() throws {
        let key = try key("https://ada:pug@a.example.com/teas?access_token=oolong", method: .get)
        #expect(!key.contains("oolong") && !key.contains("pug"))
    }

    @Test func distinguishesBodiesAndComparesJSONByValue() throws {
        func json(_ text: String) throws -> String {
            try key("http://a.test/teas", body: .data(Data(text.utf8), mediaType: .json))
        }
        #expect(try json(#"{"id":1,"name":"green"}"#) == json(#"{ "name": "green", "id": 1 }"#))
        #expect(try json(#"{"id":1,"name":"green"}"#) != json(#"{"id":1,"name":"black"}"#))
        #expect(try json(#"{"id":1}"#).wholeMatch(of: #/POST /teas~[0-9a-f]{16}/#) != nil)
        #expect(try key("http://a.test/teas", body: .text("a")) != key("http://a.test/teas", body: .text("b")))
        #expect(try key("http://a.test/teas", body: .text("a")) == "POST /teas~af63dc4c8601ec8c")
    }

    @Test func numbersAreTheSameOnEveryPlatform() {
        var random = KeyedRandom(42, "GET /teas/1", 3)
        let again = [random.next(), random.next()]
        var other = KeyedRandom(42, "GET /teas/1", 3)
        #expect(again == [other.next(), other.next()])
        #expect(KeyedRandom.hash("".utf8) == 0xCBF2_9CE4_8422_2325)
        #expect(KeyedRandom.hash("foobar".utf8) == 0x8594_4171_F739_67E8)
        #expect(random.permutation(of: 10).sorted() == Array(0..<10))
        for _ in 0..<1000 { #expect((0..<7).contains(random.next(below: 7))) }
    }
}
