// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Tests of parameters and fields of forms whose values are objects, lists or JSON.
@Suite(.timeLimit(.minutes(10)))
struct ObjectParameterTests {}

extension ObjectParameterTests {
    private static let text = #"""
        {"openapi":"3.1.0","servers":[{"url":"/"}],"paths":{
        "/simple/{p}":{"get":{"parameters":[{"name":"p","in":"path","schema":{"$ref":"#/components/schemas/point"}}]}},
        "/simple-exploded/{p}":{"get":{"parameters":[{"name":"p","in":"path","explode":true,
        "schema":{"$ref":"#/components/schemas/point"}}]}},
        "/label-exploded/{p}":{"get":{"parameters":[{"name":"p","in":"path","style":"label","explode":true,
        "schema":{"$ref":"#/components/schemas/point"}}]}},
        "/matrix/{p}":{"get":{"parameters":[{"name":"p","in":"path","style":"matrix",
        "schema":{"$ref":"#/components/schemas/point"}}]}},
        "/matrix-exploded/{p}":{"get":{"parameters":[{"name":"p","in":"path","style":"matrix","explode":true,
        "schema":{"$ref":"#/components/schemas/point"}}]}},
        "/matrix-list/{p}":{"get":{"parameters":[{"name":"p","in":"path","style":"matrix","explode":true,
        "schema":{"type":"array","items":{"type":"integer"}}}]}},
        "/matrix-number/{p}":{"get":{"parameters":[{"name":"p","in":"path","style":"matrix","explode":true,
        "schema":{"type":"integer"}}]}},
        "/form":{"get":{"parameters":[{"name":"p","in":"query","explode":false,
        "schema":{"$ref":"#/components/schemas/point"}}]}},
        "/form-exploded":{"get":{"parameters":[{"name":"p","in":"query","required":true,
        "schema":{"$ref":"#/components/schemas/point"}},{"name":"z","in":"query","schema":{"type":"integer"}}]}},
        "/json/{p}":{"get":{"parameters":[{"name":"p","in":"path",
        "content":{"application/json":{"schema":{"$ref":"#/components/schemas/point"}}}}]}},
        "/fields":{"post":{"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"properties":{
        "p":{"$ref":"#/components/schemas/point"}}}}}}}},
        "/parts":{"post":{"requestBody":{"content":{"multipart/form-data":{"schema":{"properties":{
        "p":{"$ref":"#/components/schemas/point"},"q":{"type":"integer"}}},
        "encoding":{"p":{"contentType":"application/xml"},"q":{"contentType":"text/plain"}}}}}}},
        "/text":{"post":{"requestBody":{"content":{"text/csv":{"schema":{"type":"array","items":{"type":"integer"}}}}}}}},
        "components":{"schemas":{"point":{"type":"object","required":["x"],"additionalProperties":false,
        "properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}}}}
        """#

    private func violations(_ line: String, _ body: RequestBody = .empty) async throws -> [String] {
        try await ShopDocument.violations(line, body: body, in: Self.text)
    }

    @Test(arguments: [
        ("/simple/", "x,1,y,2", "x,a", "y,2"), ("/simple-exploded/", "x=1,y=2", "x=a", "y=2"),
        ("/label-exploded/", ".x=1.y=2", ".x=a", ".y=2"), ("/matrix/", ";p=x,1,y,2", ";p=x,a", ";p=y,2"),
        ("/matrix-exploded/", ";x=1;y=2", ";x=a", ";y=2"), ("/form?p=", "x,1,y,2", "x,a", "y,2"),
        ("/form-exploded?", "x=1&y=2&z=3", "x=a&z=3", "y=2"),
        ("/json/", "%7B%22x%22:1%7D", "%7B%22x%22:%22a%22%7D", "%7B%22y%22:2%7D"),
    ])
    func anObjectIsReadInItsStyle(_ start: String, _ valid: String, _ text: String, _ partial: String) async throws {
        #expect(try await violations("GET " + start + valid) == [])
        let wrong = try await violations("GET " + start + text)
        #expect(wrong.count == 1)
        #expect(wrong.first?.contains("at /x: it is a string, but the schema requires integer") == true, "\(wrong)")
        let missing = try await violations("GET " + start + partial)
        #expect(missing.count == 1)
        #expect(missing.first?.contains("the member \"x\" is missing") == true, "\(missing)")
    }

    @Test func anExplodedObjectIsMissingIfNoneOfItsMembersIsInTheQuery() async throws {
        let found = try await violations("GET /form-exploded?z=3")
        #expect(found.count == 1)
        #expect(found.first?.contains("it is required, but missing") == true, "\(found)")
    }

    @Test func anExplodedMatrixIsAListOrOneValue() async throws {
        #expect(try await violations("GET /matrix-list/;p=1;p=2") == [])
        #expect(try await violations("GET /matrix-list/;p=1;p=a").count == 1)
        #expect(try await violations("GET /matrix-number/;p=1") == [])
        #expect(try await violations("GET /matrix-number/;q=1").count == 1)
    }

    @Test func aFieldOfAFormCanBeJSON() async throws {
        #expect(try await violations("POST /fields", .form(["p": #"{"x":1}"#])) == [])
        #expect(try await violations("POST /fields", .form(["p": #"{"x":"a"}"#])).count == 1)
    }

    @Test func aPartInXMLIsNotRead() async throws {
        let xml = MultipartPart.data(Data("<p/>".utf8), name: "p", mediaType: MediaType("application", "xml"))
        #expect(try await violations("POST /parts", .multipart([xml, .text("1", name: "q")])) == [])
        #expect(try await violations("POST /parts", .multipart([xml, .text("a", name: "q")])).count == 1)
    }

    @Test func aListInATextIsNotRead() async throws {
        let body = RequestBody.data(Data("1;2".utf8), mediaType: MediaType("text", "csv"))
        #expect(try await violations("POST /text", body) == [])
    }

    @Test func aDocumentThatCannotBeReadIsRefused() throws {
        let file = URL(filePath: "/nowhere/shop.json")
        let error = #expect(throws: ApiConnectorError.self) { try OpenAPIDocument(contentsOf: file) }
        #expect(error?.kind == .decodingFailed)
        #expect(error?.description.contains("the document shop.json cannot be read") == true)
    }

    @Test func aDocumentCanHaveOnlyOneOfItsOperations() throws {
        let document = try ShopDocument.document()
        let operation = try #require(document.operations.first { $0.description == "DELETE /teas/{id}" })
        #expect(OpenAPIDocument(document, only: operation).operations.map(\.description) == ["DELETE /teas/{id}"])
    }
}
