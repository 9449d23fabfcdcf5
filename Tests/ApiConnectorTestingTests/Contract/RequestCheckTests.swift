// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// A document with one of each construct that a contract checks.
enum ShopDocument {
    static let text = #"""
        {"openapi":"3.1.0","info":{"title":"Shop","version":"1"},
        "servers":[{"url":"https://shop.example.com/v1/{tenant}"},{"url":"/"}],
        "paths":{
        "/teas":{"get":{"parameters":[
        {"name":"page","in":"query","required":true,"schema":{"type":"integer","minimum":1}},
        {"name":"kinds","in":"query","schema":{"type":"array","items":{"enum":["green","black"]}}},
        {"name":"ids","in":"query","explode":false,"schema":{"type":"array","items":{"type":"integer"}}},
        {"name":"piped","in":"query","style":"pipeDelimited","explode":false,"schema":{"type":"array","items":{"type":"integer"}}},
        {"name":"filter","in":"query","style":"deepObject","schema":{"type":"object","properties":{"age":{"type":"integer"}},"additionalProperties":false}},
        {"name":"where","in":"query","content":{"application/json":{"schema":{"type":"object"}}}},
        {"name":"X-Trace","in":"header","schema":{"type":"array","items":{"type":"integer"}}},
        {"name":"session","in":"cookie","schema":{"type":"string","maxLength":3}}],
        "responses":{"200":{"description":"","headers":{"X-Total-Count":{"required":true,"schema":{"type":"integer"}}},
        "content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Tea"}}}}}}},
        "post":{"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Tea"}}}},
        "responses":{"201":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Tea"}}}},
        "4XX":{"description":"","content":{"application/problem+json":{"schema":{"required":["title"]}}}}}}},
        "/teas/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
        "get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Tea"}}}},
        "default":{"description":""}}},"delete":{"responses":{"204":{"description":""}}}},
        "/teas/best":{"get":{"responses":{"200":{"description":"","content":{"text/plain":{"schema":{"type":"string","maxLength":5}}}}}}},
        "/files/{name}.{ext}":{"get":{"parameters":[{"name":"name","in":"path","required":true,"schema":{"type":"string"}},
        {"name":"ext","in":"path","required":true,"schema":{"enum":["png","jpg"]}}],
        "responses":{"200":{"description":"","content":{"image/*":{"schema":{"type":"string","format":"binary"}}}}}}},
        "/search?version=2#top":{"get":{"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"204":{"description":""}}}},
        "/points/{at}":{"get":{"parameters":[{"name":"at","in":"path","required":true,"style":"matrix","schema":{"type":"array","items":{"type":"number"}}}],
        "responses":{"200":{"description":"","content":{"application/jsonl":{"itemSchema":{"type":"integer"}}}}}}},
        "/login":{"post":{"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object",
        "required":["user","password"],"properties":{"user":{"type":"string"},"password":{"type":"string","maxLength":4},"days":{"type":"integer"}}}}}},
        "responses":{"204":{"description":""}}}},
        "/photos":{"post":{"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object",
        "required":["photo"],"properties":{"photo":{"type":"string","format":"binary"},"size":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}}}}}},
        "responses":{"204":{"description":""}}}},
        "/notes":{"get":{}},
        "/moved":{"get":{"responses":{"302":{"description":""}}}},
        "/report":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"integer"}},
        "application/json+x":{"schema":{"type":"boolean"}},"text/plain":{"schema":{"const":"plain"}}}}}}},
        "/notes?draft=1":{"get":{"parameters":[{"name":"page","in":"query","schema":{"type":"integer"}}]}},
        "/notes#add":{"put":{"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}},"responses":{"200":{"description":""}}}},
        "/notes#replace":{"put":{"requestBody":{"content":{"text/plain":{"schema":{"type":"string"}}}},"responses":{"204":{"description":""}}}},
        "/sorted":{"get":{"parameters":[{"name":"by","in":"query","schema":{"type":"array","items":{"type":"object","required":["key"],"properties":{"key":{"type":"string"}}}}}]}}},
        "components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"api_key"}},
        "schemas":{"Tea":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","readOnly":true},
        "name":{"type":"string"},"origin":{"type":["string","null"]}}}}}}
        """#

    static func document(_ text: String = text) throws(ApiConnectorError) -> OpenAPIDocument {
        try OpenAPIDocument(Data(text.utf8), named: "shop.json")
    }

    /// The violations of one exchange.
    static func violations(
        _ line: String,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty,
        answer: TestConnectorResponse? = nil,
        in text: String = text
    ) async throws -> [String] {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let url = try #require(URL(string: "https://shop.example.com" + parts[1]))
        let request = ApiRequest(url: url, method: HTTPMethod(rawValue: parts[0]), headers: headers, body: body)
        let sent = RecordedRequest(number: 1, request: request, body: try await request.collectedBody())
        let place = CodeLocation(#fileID, #filePath, #line)
        let exchange = ScriptExchange(sent: sent, response: answer, place: place)
        return try document(text).violations(of: exchange).map(\.description)
    }
}

/// A request and its violations.
struct RequestCase: Sendable, CustomTestStringConvertible {
    let line: String
    let headers: HTTPHeaders
    let body: RequestBody
    let violations: [String]

    init(
        _ line: String,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty,
        violates violations: String...
    ) {
        self.line = line
        self.headers = headers
        self.body = body
        self.violations = violations
    }

    var testDescription: String { line }

    private static let page = "#/paths/~1teas/get/parameters/"

    static let operations = [
        RequestCase("GET /teas?page=1"),
        RequestCase("GET /v1/acme/teas?page=1"),
        RequestCase("GET /v1/teas?page=1", violates: "the request: the document has no path for it (#/paths)"),
        RequestCase("GET /tea", violates: "the request: the document has no path for it (#/paths)"),
        RequestCase("PUT /teas", violates: "the request: the path has no PUT; it has GET, POST (#/paths/~1teas)"),
        RequestCase("GET /teas/7"),
        RequestCase("GET /teas/best"),
        RequestCase(
            "GET /teas/x",
            violates: "the path parameter \"id\": it is a string, but the schema requires integer "
                + "(#/paths/~1teas~1{id}/parameters/0/schema/type)"
        ),
        RequestCase("GET /files/a.b.png"),
        RequestCase(
            "GET /files/a.gif",
            violates: "the path parameter \"ext\": it is \"gif\", but the schema requires one of \"png\", \"jpg\" "
                + "(#/paths/~1files~1{name}.{ext}/get/parameters/1/schema/enum)"
        ),
        RequestCase("GET /search?version=2&q=a"),
        RequestCase("GET /search?version=3", violates: "the request: the document has no path for it (#/paths)"),
        RequestCase("GET /notes"), RequestCase("GET /notes?draft=1&page=2"),
        RequestCase(
            "GET /notes?draft=2",
            violates: "the query item \"draft\": the operation has no such parameter (#/paths/~1notes/get)"
        ),
        RequestCase("PUT /notes", body: .json(["a": 1])), RequestCase("PUT /notes", body: .text("a")),
        RequestCase(
            "PUT /notes",
            body: .json([1]),
            violates: "the request body: it is an array, but the schema requires object "
                + "(#/paths/~1notes#add/put/requestBody/content/application~1json/schema/type)"
        ),
        RequestCase("GET /sorted?by=%7B%22key%22:%22a%22%7D&by=%7B%22key%22:%22b%22%7D"),
        RequestCase(
            "GET /sorted?by=%7B%7D",
            violates: "the query parameter \"by\" at /0: the member \"key\" is missing "
                + "(#/paths/~1sorted/get/parameters/0/schema/items/required)"
        ),
        RequestCase("GET /points/;at=1.5,2"),
        RequestCase(
            "GET /points/;at=1,x",
            violates: "the path parameter \"at\" at /1: it is a string, but the schema requires number "
                + "(#/paths/~1points~1{at}/get/parameters/0/schema/items/type)"
        ),
    ]

    static let parameters = [
        RequestCase("GET /teas", violates: "the query parameter \"page\": it is required, but missing (\(page)0)"),
        RequestCase(
            "GET /teas?page=0",
            violates: "the query parameter \"page\": 0 is not at least 1 (\(page)0/schema/minimum)"
        ),
        RequestCase("GET /teas?page=1&kinds=green&kinds=black&ids=1,2&piped=3%7C4&filter%5Bage%5D=3&where=%7B%7D"),
        RequestCase(
            "GET /teas?page=1&kinds=red",
            violates:
                "the query parameter \"kinds\" at /0: it is \"red\", but the schema requires "
                + "one of \"green\", \"black\" "
                + "(\(page)1/schema/items/enum)"
        ),
        RequestCase(
            "GET /teas?page=1&ids=1,b",
            violates: "the query parameter \"ids\" at /1: it is a string, but the schema requires integer "
                + "(\(page)2/schema/items/type)"
        ),
        RequestCase(
            "GET /teas?page=1&filter%5Bage%5D=old&filter%5Bsize%5D=2",
            violates: "the query parameter \"filter\" at /age: it is a string, but the schema requires integer "
                + "(\(page)4/schema/properties/age/type)",
            "the query parameter \"filter\": the member \"size\" is not in the schema "
                + "(\(page)4/schema/additionalProperties)"
        ),
        RequestCase("GET /teas?page=1&where=%5B", violates: "the query parameter \"where\": it is not JSON (\(page)5)"),
        RequestCase(
            "GET /teas?page=1&pgae=2&api_key=x",
            violates: "the query item \"pgae\": the operation has no such parameter (#/paths/~1teas/get)"
        ),
        RequestCase("GET /teas?page=1", headers: ["X-Trace": "1, 2", "Cookie": "session=abc; other=1"]),
        RequestCase(
            "GET /teas?page=1",
            headers: ["X-Trace": "1,b", "Cookie": "session=secret"],
            violates: "the header field \"X-Trace\" at /1: it is a string, but the schema requires integer "
                + "(\(page)6/schema/items/type)",
            "the cookie \"session\": it has 6 characters, but at most 3 are allowed (\(page)7/schema/maxLength)"
        ),
    ]

    static let bodies = [
        RequestCase("POST /teas", body: .json(["name": "green"])),
        RequestCase(
            "POST /teas",
            violates: "the request body: it is required, but missing (#/paths/~1teas/post/requestBody)"
        ),
        RequestCase(
            "POST /teas",
            body: .json(["name": 5, "origin": nil]),
            violates: "the request body at /name: it is an integer, but the schema requires string "
                + "(#/components/schemas/Tea/properties/name/type)"
        ),
        RequestCase(
            "POST /teas",
            body: .data(Data("x".utf8), mediaType: .plainText),
            violates:
                "the request body: the media type is text/plain; charset=utf-8, but the document has application/json "
                + "(#/paths/~1teas/post/requestBody/content)"
        ),
        RequestCase(
            "POST /teas",
            body: .data(Data("x".utf8), mediaType: .json),
            violates: "the request body: it is not JSON (#/paths/~1teas/post/requestBody/content/application~1json)"
        ),
        RequestCase(
            "DELETE /teas/1",
            body: .json(["a": 1]),
            violates: "the request body: the operation has no request body (#/paths/~1teas~1{id}/delete)"
        ),
        RequestCase("POST /login", body: .form(["user": "a b", "password": "x", "days": "3"])),
        RequestCase(
            "POST /login",
            body: .form(["user": "5", "days": "x"]),
            violates: "the request body: the member \"password\" is missing (\(form)/required)",
            "the request body at /days: it is a string, but the schema requires integer (\(form)/properties/days/type)"
        ),
        RequestCase(
            "POST /photos",
            body: .multipart([.data(Data([1]), name: "photo", fileName: "a.png"), .text("3", name: "size")])
        ),
        RequestCase(
            "POST /photos",
            body: .multipart([.text("x", name: "size"), .text("a", name: "tags")]),
            violates: "the request body: the member \"photo\" is missing (\(photo)/required)",
            "the request body at /size: it is a string, but the schema requires integer (\(photo)/properties/size/type)"
        ),
    ]

    private static let form = "#/paths/~1login/post/requestBody/content/application~1x-www-form-urlencoded/schema"
    private static let photo = "#/paths/~1photos/post/requestBody/content/multipart~1form-data/schema"
}

@Suite(.timeLimit(.minutes(10)))
struct RequestCheckTests {}

extension RequestCheckTests {
    @Test(arguments: RequestCase.operations + RequestCase.parameters + RequestCase.bodies)
    func aRequestIsComparedWithItsOperation(_ request: RequestCase) async throws {
        let found = try await ShopDocument.violations(request.line, headers: request.headers, body: request.body)
        #expect(found == request.violations)
    }

    /// A form whose parts are a file or files, a text or an object, and objects.
    private static let formText = #"""
        {"openapi":"3.1.0","info":{"title":"Form","version":"1"},"servers":[{"url":"/"}],"paths":{"/form":{"post":{
        "requestBody":{"content":{"multipart/form-data":{"schema":{"properties":{
        "image":{"anyOf":[{"type":"string","format":"binary"},{"type":"array","items":{"type":"string","format":"binary"}}]},
        "cover":{"oneOf":[{"type":"string","format":"binary"},{"type":"object","required":["id"]}]},
        "strategy":{"anyOf":[{"type":"string","enum":["auto"]},{"type":"object","required":["size"]}]},
        "mode":{"oneOf":[{"enum":["all"]},{"type":"array","items":{"type":"integer"}}]},
        "boxes":{"type":"array","items":{"type":"object"}}}}}}},"responses":{"204":{"description":""}}}}}}
        """#

    private func violations(_ parts: MultipartPart...) async throws -> [String] {
        try await ShopDocument.violations("POST /form", body: .multipart(parts), in: Self.formText)
    }

    @Test func eachAlternativeOfAPartIsAccepted() async throws {
        let image = MultipartPart.data(Data([1]), name: "image", fileName: "a.png")
        #expect(try await violations(image) == [])
        #expect(try await violations(image, image) == [])
        #expect(try await violations(.data(Data([1]), name: "cover", fileName: "a.png")) == [])
        #expect(try await violations(.json(["id": 1], name: "cover")) == [])
        #expect(try await violations(.text("auto", name: "strategy")) == [])
        #expect(try await violations(.json(["size": 1], name: "strategy")) == [])
        #expect(try await violations(.text("all", name: "mode")) == [])
        #expect(try await violations(.text("1", name: "mode"), .text("2", name: "mode")) == [])
        #expect(try await violations(.json(["a": 1], name: "boxes"), .json(["a": 2], name: "boxes")) == [])
    }

    @Test(arguments: ["image", "cover", "strategy"])
    func aTextOrAFileIsNotAStringInJSON(_ name: String) async throws {
        let found = try await violations(.json("auto", name: name))
        let pointer = "#/paths/~1form/post/requestBody/content/multipart~1form-data/schema/properties/\(name)"
        let sentence = "the part \"\(name)\" is a string in JSON, but the document describes a text or a file"
        #expect(found == ["the request body: \(sentence) (\(pointer))"])
    }

    @Test func anArrayIsNotOnePart() async throws {
        let found = try await violations(.json([["a": 1]], name: "boxes"))
        #expect(found.count == 1)
        #expect(found.first?.contains("at /boxes/0: it is an array") == true, "\(found)")
    }

    @Test func aPartThatIsNotAListOccursOnce() async throws {
        let found = try await violations(.text("auto", name: "strategy"), .json(["size": 1], name: "strategy"))
        #expect(found.count == 1)
        #expect(found.first?.contains("at /strategy: no alternative matches") == true, "\(found)")
    }

    @Test func textsContainNoSecretValue() async throws {
        let text = ShopDocument.text.replacing(#""maxLength":4"#, with: #""enum":["a"]"#)
        let found = try await ShopDocument.violations(
            "POST /login",
            body: .form(["user": "u", "password": "hunter2"]),
            in: text
        )
        #expect(found.count == 1)
        #expect(found.first?.contains("it is a string, but the schema requires one of") == true)
    }

    @Test func membersBesideAReferenceToAPathItemArePartOfThePath() async throws {
        let text = #"""
            {"openapi":"3.1.0","components":{"pathItems":{"A":{
            "parameters":[{"name":"p","in":"query","required":true,"schema":{"type":"string"}}],
            "get":{},"put":{"parameters":[{"name":"shared","in":"query"}]}}}},
            "paths":{"/a":{"$ref":"#/components/pathItems/A",
            "parameters":[{"name":"p","in":"query","schema":{"type":"integer"}}],
            "post":{},"put":{"parameters":[{"name":"own","in":"query"}]}}}}
            """#
        func violations(_ line: String) async throws -> [String] {
            try await ShopDocument.violations(line, in: text)
        }
        #expect(try await violations("GET /a").isEmpty)
        #expect(try await violations("POST /a?p=1").isEmpty)
        #expect(try await violations("PUT /a?own=1").isEmpty)
        #expect(
            try await violations("GET /a?p=x") == [
                "the query parameter \"p\": it is a string, but the schema requires integer "
                    + "(#/paths/~1a/parameters/0/schema/type)"
            ]
        )
        #expect(
            try await violations("PUT /a?shared=1") == [
                "the query item \"shared\": the operation has no such parameter (#/paths/~1a/put)"
            ]
        )
    }
}
