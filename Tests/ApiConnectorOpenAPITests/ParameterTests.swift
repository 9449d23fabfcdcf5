// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import ApiConnectorTesting
import Testing

/// Tests of the styles in which parameters are written, as OpenAPI and RFC 6570 describe them.
struct ParameterTests {
    private static let filter = Filter(name: "x&y", ages: [1, 2])

    private func path(_ path: RouteParts.Path) throws -> String {
        String(try request(path).url.absoluteString.dropFirst("https://shop.example/v1".count))
    }

    private func query(_ parameters: RouteParts.QueryParameter...) throws -> String? {
        try request(query: parameters).url.query(percentEncoded: true)
    }

    // MARK: - Path

    @Test func aValueIsOneSegmentOfAPath() throws {
        #expect(try path("/items") == "/items")
        #expect(try path("/items/\("a/b c")/\(7)") == "/items/a%2Fb%20c/7")
        #expect(try path("/items/\([1, 2])") == "/items/1,2")
        #expect(try path("\(ApiPath(alreadyEncoded: "/picture%20of/"))\("x")") == "/picture%20of/x")
        #expect(try path("/items/\(json: [1, 2])") == "/items/%5B1%2C2%5D")
    }

    @Test func eachStyleOfAPathIsAsRFC6570ExpandsIt() throws {
        let list = ["a/b", "c"]
        let object = ["x": "1", "y": "2"]
        #expect(try path("/\(simple: list)/\(simple: list, explode: true)") == "/a%2Fb,c/a%2Fb,c")
        #expect(try path("/\(simple: object)/\(simple: object, explode: true)") == "/x,1,y,2/x=1,y=2")
        #expect(try path("/\(label: list)/\(label: list, explode: true)") == "/.a%2Fb,c/.a%2Fb.c")
        #expect(try path("/\(label: object)/\(label: object, explode: true)") == "/.x,1,y,2/.x=1.y=2")
        #expect(try path("/\(matrix: list, "k")/\(matrix: list, "k", explode: true)") == "/;k=a%2Fb,c/;k=a%2Fb;k=c")
        #expect(try path("/\(matrix: object, "k")/\(matrix: object, "k", explode: true)") == "/;k=x,1,y,2/;x=1;y=2")
    }

    @Test func anEmptyListIsNoSegmentOfAPath() {
        let error = #expect(throws: ApiConnectorError.self) { try request("/items/\([String]())/parts") }
        #expect(error?.kind == .invalidRequest)
    }

    // MARK: - Query

    @Test func eachStyleOfAQueryIsAsOpenAPIDescribesIt() throws {
        #expect(try query(.form("a", [1, 2])) == "a=1&a=2")
        #expect(try query(.form("a", Self.filter)) == "ages=1%2C2&name=x%26y")
        #expect(try query(.fields("a", Self.filter)) == "ages=1&ages=2&name=x%26y")
        #expect(try query(.fields("a", "text")) == "a=text")
        #expect(try query(.deep("a", Self.filter)) == "a%5Bages%5D=1&a%5Bages%5D=2&a%5Bname%5D=x%26y")
        #expect(try query(.json("a", Filter(name: "n"))) == "a=%7B%22name%22%3A%22n%22%7D")
        #expect(try query(.whole(Filter(name: "n"))) == "%7B%22name%22%3A%22n%22%7D")
        #expect(try query(.form("a", ParameterText.json([Filter(name: "n")]))) == "a=%7B%22name%22%3A%22n%22%7D")
    }

    @Test func theDelimiterOfAListIsNotEncodedAndItsItemsAre() throws {
        #expect(try query(.joined("a", ["x,y", "z"])) == "a=x%2Cy,z")
        #expect(try query(.joined("a", ["x y", "z"], by: " ")) == "a=x%20y%20z")
        #expect(try query(.joined("a", ["x|y", "z"], by: "|")) == "a=x%7Cy%7Cz")
        #expect(try query(.form("a b", 1), .joined("c", [1, 2])) == "a%20b=1&c=1,2")
    }

    @Test func aQueryHasNoItemForAMissingValueOrAnEmptyList() throws {
        let none: Int? = nil
        #expect(try query(.form("a", none), .form("b", [Int]()), .joined("c", [Int]()), .deep("d", Filter())) == nil)
        #expect(try query(.json("a", none), .whole(none), .fields("b", none)) == nil)
        #expect(try query(.form("a", "")) == "a=")
    }

    // MARK: - Header fields and cookies

    @Test func headerFieldsHaveCommasBetweenTheirValues() throws {
        let none: Int? = nil
        let headers = try request(headers: [
            .field("X-List", ["a", "b"]), .field("X-Object", ["x": 1, "y": 2]),
            .field("X-Exploded", ["x": 1, "y": 2], explode: true), .field("X-JSON", json: Filter(name: "n")),
            .field("X-None", none), .field("X-None", json: none),
        ]).headers
        #expect(headers["X-List"] == "a,b")
        #expect(headers["X-Object"] == "x,1,y,2")
        #expect(headers["X-Exploded"] == "x=1,y=2")
        #expect(headers["X-JSON"] == #"{"name":"n"}"#)
        #expect(headers["X-None"] == nil)
    }

    @Test func allCookiesAreInOneField() throws {
        let none: Int? = nil
        let headers = try request(headers: [
            .cookie("theme", ["a;b", "c"], explode: true), .cookie("order", ["d,e", "f"]), .cookie("none", none),
            .cookie("kept", "a%3Bb", isEncoded: true), .cookie("o", ["x": "é"], explode: true),
            .cookie("j", json: [1, 2]),
        ]).headers
        #expect(
            headers[.cookie]
                == "theme=a%3Bb; theme=c; order=d%2Ce,f; kept=a%3Bb; x=%C3%A9; j=[1%2C2]"
        )
    }

    // MARK: - Values

    @Test func eachValueHasItsTextOfTheFormatsRFC() throws {
        func text(_ value: some ParameterValue) throws -> String? {
            try request(query: [.form("a", value)]).url.query(percentEncoded: false)
        }
        let id = try #require(UUID(uuidString: "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"))
        #expect(try text(id) == "a=f81d4fae-7dec-11d0-a765-00a0c91e6bf6")
        #expect(try text(try #require(URL(string: "https://a.example/b"))) == "a=https://a.example/b")
        #expect(try text(Data([1, 2, 3])) == "a=AQID")
        #expect(try text(Date(timeIntervalSince1970: 0.5)) == "a=1970-01-01T00:00:00.500Z")
        #expect(try text(try #require(Day("2026-02-28"))) == "a=2026-02-28")
        #expect(try text(DecimalText(1.5)) == "a=1.5")
        #expect(try text([1, nil, 3]) == "a=1&a=&a=3")
        #expect(try text(JSONValue.null) == "a=")
        #expect(try text("text" as JSONValue) == "a=text")
        #expect(try text([1, true, "x"] as JSONValue) == "a=1&a=true&a=x")
        #expect(try text(["y": 1, "x": [2, 3]] as JSONValue) == "x=2,3&y=1")
        #expect(try text(Kind("cat")) == "a=cat")
    }

    // MARK: - Values that do not encode

    private static let cause =
        "does not encode: a value of type Double: Unable to encode Double.nan directly in JSON"

    @Test(
        arguments: [
            .form("a", Broken()), .form("a", [Broken()]), .form("a", ["b": Broken()]), .fields("a", Broken()),
            .joined("a", Broken()), .deep("a", Broken()), .json("a", Broken()),
            .form("a", ParameterText.json([Broken()])), .json("a", Double.nan),
        ] as [RouteParts.QueryParameter]
    )
    func aQueryItemThatDoesNotEncodeFailsTheCall(_ parameter: RouteParts.QueryParameter) {
        let error = #expect(throws: ApiConnectorError.self) { try request(query: [parameter]) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail == "the value of its query item a \(Self.cause)")
    }

    @Test func aQueryThatDoesNotEncodeFailsTheCall() {
        let error = #expect(throws: ApiConnectorError.self) { try request(query: [.whole(Broken())]) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail == "its query \(Self.cause)")
    }

    @Test(
        arguments: [
            (.field("a", Broken()), "header field"), (.field("a", json: Broken()), "header field"),
            (.cookie("a", Broken()), "cookie"), (.cookie("a", json: Broken()), "cookie"),
        ] as [(RouteParts.HeaderParameter, String)]
    )
    func aHeaderFieldThatDoesNotEncodeFailsTheCall(_ parameter: RouteParts.HeaderParameter, _ name: String) {
        let error = #expect(throws: ApiConnectorError.self) { try request(headers: [parameter]) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail == "the value of its \(name) a \(Self.cause)")
    }

    @Test(
        arguments: [
            "/items/\(json: Broken())", "/items/a\(json: Broken())b", "/items/\(simple: Broken())",
            "/items/\(label: Broken())", "/items/\(matrix: Broken(), "a")/b", "\(simple: Broken())",
        ] as [RouteParts.Path]
    )
    func aValueInAPathThatDoesNotEncodeFailsTheCall(_ path: RouteParts.Path) {
        let error = #expect(throws: ApiConnectorError.self) { try request(path) }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.detail == "a value in its path \(Self.cause)")
    }

    @Test func aPartOfAFormThatDoesNotEncodeFailsTheCall() async {
        let connection = NetworkConnector(
            environment: ShopServer(),
            provider: TestConnector { _ in .json(["ok": true]) },
            router: ShopRouter.self
        )
        var form = FormParts()
        form.add(text: "a", Broken())
        let route = ShopRouter(.post, "/items", body: .multipart(form.parts))
        let error = await #expect(throws: ApiConnectorError.self) { try await connection.string(at: route) }
        #expect(error?.kind == .encodingFailed)
    }
}

/// An open set of values, as the generator writes it.
private struct Kind: OpenEnum {
    let rawValue: String
}
