// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// Tests of requests whose values have the style, the media type or the coding that the document names.
@Suite(.timeLimit(.minutes(10)))
struct RequestStyleTests {}

extension RequestStyleTests {
    private static let text = #"""
        {"openapi":"3.1.0","info":{"title":"Styles","version":"1"},"servers":[{"url":"/"}],"paths":{
        "/label/{at}":{"get":{"parameters":[
        {"name":"at","in":"path","required":true,"style":"label","schema":{"type":"integer"}}]}},
        "/matrix/{at}":{"get":{"parameters":[
        {"name":"at","in":"path","required":true,"style":"matrix","schema":{"type":"integer"}}]}},
        "/query":{"get":{"parameters":[
        {"name":"ids","in":"query","explode":false,"schema":{"type":"array","items":{"type":"integer"}}},
        {"name":"draft","in":"query","allowEmptyValue":true,"schema":{"type":"boolean"}},
        {"name":"filter","in":"query","style":"deepObject","schema":{"type":"object","required":["owner"],"properties":{
        "owner":{"type":"object","properties":{"age":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}}},
        "size":{"type":"integer"}}}},
        {"name":"X-Ids","in":"header","schema":{"type":"array","items":{"type":"integer"}}}]}},
        "/form":{"post":{"requestBody":{"required":true,"content":{"application/x-www-form-urlencoded":{"schema":{
        "properties":{"ids":{"type":"array","items":{"type":"integer"}},"words":{"type":"array","items":{"type":"string"}},
        "owner":{"type":"object","required":["age"],"properties":{"age":{"type":"integer"}}},"name":{"type":"string"}}},
        "encoding":{"ids":{"explode":false},"words":{"style":"pipeDelimited"},"owner":{"style":"deepObject"}}}}}}},
        "/parts":{"post":{"requestBody":{"content":{"multipart/form-data":{"schema":{"properties":{"photo":{},"note":{}}},
        "encoding":{"photo":{"contentType":"image/png, image/*"},"note":{"contentType":"application/json"}}}}}}},
        "/versions":{"post":{"requestBody":{"required":true,"content":{"application/json; v=1":{"schema":{"type":"integer"}},
        "application/json; v=2":{"schema":{"type":"boolean"}},"text/plain":{"schema":{"type":"string"}}}}}},
        "/lines":{"post":{"requestBody":{"content":{"application/x-ndjson":{"schema":{"type":"integer"}},
        "application/jsonl":{"schema":{"type":"array","maxItems":2,"items":{"type":"integer"}}}}}}}}}
        """#

    private func violations(
        _ line: String,
        headers: HTTPHeaders = HTTPHeaders(),
        body: RequestBody = .empty
    ) async throws -> [String] {
        try await ShopDocument.violations(line, headers: headers, body: body, in: Self.text)
    }

    @Test(arguments: [
        ("GET /label/.5", nil), ("GET /label/5", "it does not start with \".\", as the style label requires"),
        ("GET /matrix/;at=5", nil),
        ("GET /matrix/%3Bat=5", "it does not start with \";at\", as the style matrix requires"),
        ("GET /matrix/5", "it does not start with \";at\", as the style matrix requires"),
        ("GET /query?ids=1,2", nil),
        ("GET /query?ids=1&ids=2", "it occurs 2 times, but without explode it is one item"),
        ("GET /query?draft", nil), ("GET /query?draft=", nil), ("GET /query?draft=true", nil),
        ("GET /query?draft=x", "it is a string, but the schema requires boolean"),
        ("GET /query?ids=", nil),
        ("GET /query?filter%5Bowner%5D%5Bage%5D=3&filter%5Bsize%5D=1", nil),
        ("GET /query?filter%5Bowner%5D%5Btags%5D=a&filter%5Bowner%5D%5Btags%5D=b", nil),
        ("GET /query?filter%5Bowner%5D%5Btags%5D%5B%5D=a", nil),
        ("GET /query?filter%5Bowner%5D%5Btags%5D%5B0%5D=a&filter%5Bowner%5D%5Btags%5D%5B1%5D=b", nil),
        (
            "GET /query?filter%5Bowner%5D=x&filter%5Bowner%5D%5Bage%5D=3",
            "at /owner: it is an array, but the schema requires object"
        ),
        ("GET /query?filter%5Bsize%5D=1", "the member \"owner\" is missing"),
        ("GET /query?filter%5Bowner%5D%5Bage%5D=old", "at /owner/age: it is a string, but the schema requires integer"),
        (
            "GET /query?filter%5Bowner%5D%5Bage%5D=1&filter%5Bsize%5D=1&filter%5Bsize%5D=2",
            "at /size: it is an array, but the schema requires integer"
        ),
    ])
    func aParameterHasItsStyle(_ line: String, _ sentence: String?) async throws {
        let found = try await violations(line)
        #expect(found.count == (sentence == nil ? 0 : 1), "\(found)")
        #expect(found.allSatisfy { $0.contains(sentence ?? "") }, "\(found)")
    }

    @Test(arguments: [
        ("GET /api/v2/teas", true), ("GET /api/v3/teas", true), ("GET /other/teas", true), ("GET /api/v4/teas", false),
        ("GET /other/points.1;b=2", true), ("GET /other/points.1", false),
        ("GET /other/points.x;b=2", false),
    ])
    func aVariableOfAServerOrAPathMatchesItsValue(_ line: String, _ isKnown: Bool) async throws {
        let text = #"""
            {"openapi":"3.1.0","servers":[{"url":"https://{host}/{base}","variables":{"host":{"default":"a.example"},
            "base":{"default":"api/v2","enum":["api/v2","api/v3","other"]}}}],"paths":{"/teas":{"get":{}},
            "/points{a}{b}":{"get":{"parameters":[
            {"name":"a","in":"path","required":true,"style":"label","schema":{"type":"integer"}},
            {"name":"b","in":"path","required":true,"style":"matrix","schema":{"type":"integer"}}]}}}}
            """#
        #expect(try await ShopDocument.violations(line, in: text).isEmpty == isKnown)
    }

    @Test func aQueryItemInThePathCanHaveAParameter() async throws {
        let text = #"""
            {"openapi":"3.1.0","servers":[{"url":"/"}],"paths":{"/a?v=2&q={q}":{"get":{"parameters":[
            {"name":"q","in":"query","schema":{"type":"integer"}}]}}}}
            """#
        #expect(try await ShopDocument.violations("GET /a?v=2&q=5", in: text) == [])
        #expect(try await ShopDocument.violations("GET /a?v=2&q=x", in: text).count == 1)
        #expect(try await ShopDocument.violations("GET /a?v=3&q=5", in: text).count == 1)
    }

    @Test func headerFieldsOfOneNameAreOneList() async throws {
        var headers = HTTPHeaders()
        for text in ["1", "2, 3"] { headers.append("X-Ids", text) }
        #expect(try await violations("GET /query", headers: headers) == [])
        headers.append("X-Ids", "x")
        #expect(try await violations("GET /query", headers: headers).count == 1)
    }

    @Test(arguments: [
        ("ids=1,2&words=a%7Cb&owner%5Bage%5D=3&name=a%2Cb", nil), ("words=a+b", nil),
        ("ids=1,x", "at /ids/1: it is a string, but the schema requires integer"),
        ("owner%5Bage%5D=x", "at /owner/age: it is a string, but the schema requires integer"),
        ("ids=1&ids=2", "the field \"ids\" of the request body: it occurs 2 times, but without explode it is one item"),
        ("owner%5Bname%5D=x", "at /owner: the member \"age\" is missing"),
    ])
    func aFieldOfAFormHasTheStyleOfItsEncoding(_ form: String, _ sentence: String?) async throws {
        let body = RequestBody.data(Data(form.utf8), mediaType: .form)
        let found = try await violations("POST /form", body: body)
        #expect(found.count == (sentence == nil ? 0 : 1), "\(found)")
        #expect(found.allSatisfy { $0.contains(sentence ?? "") }, "\(found)")
    }

    @Test func aPartHasAMediaTypeOfItsEncoding() async throws {
        func violations(_ parts: MultipartPart...) async throws -> [String] {
            try await self.violations("POST /parts", body: .multipart(parts))
        }
        let bytes = Data([1])
        #expect(
            try await violations(
                .data(bytes, name: "photo", fileName: "a.gif", mediaType: MediaType("image", "gif")),
                .json(["a": 1], name: "note")
            ) == []
        )
        let encoding = "#/paths/~1parts/post/requestBody/content/multipart~1form-data/encoding"
        #expect(
            try await violations(.data(bytes, name: "photo", fileName: "a.txt", mediaType: .octetStream)) == [
                "the request body: the media type of the part \"photo\" is application/octet-stream, but the document has "
                    + "image/png, image/* (\(encoding)/photo/contentType)"
            ]
        )
        #expect(try await violations(.text("a", name: "note")).count == 1)
    }

    @Test func theParametersOfAMediaTypeSelectTheSchema() async throws {
        func violations(_ text: String, _ type: String) async throws -> [String] {
            try await self.violations(
                "POST /versions",
                body: .data(Data(text.utf8), mediaType: MediaType(type) ?? .json)
            )
        }
        #expect(try await violations("1", "application/json; v=1") == [])
        #expect(try await violations("true", "application/json; v=2") == [])
        #expect(try await violations("true", "application/json; v=1").count == 1)
        #expect(try await violations("1", "application/json; v=2; charset=utf-8").count == 1)
    }

    @Test func anEmptyTextIsABody() async throws {
        #expect(try await violations("POST /versions", body: .data(Data(), mediaType: .plainText)) == [])
        #expect(try await violations("POST /versions", body: .data(Data(), mediaType: .json)).count == 1)
    }

    @Test func ofACompressedBodyOnlyTheMediaTypeIsChecked() async throws {
        let headers: HTTPHeaders = ["Content-Encoding": "gzip"]
        let body = RequestBody.data(Data([0x1F, 0x8B]), mediaType: MediaType("application", "json"))
        #expect(try await violations("POST /versions", headers: headers, body: body) == [])
        #expect(
            try await violations("POST /versions", headers: ["Content-Encoding": "identity"], body: body).count == 1
        )
        let image = RequestBody.data(Data([0x1F, 0x8B]), mediaType: MediaType("image", "png"))
        #expect(try await violations("POST /versions", headers: headers, body: image).count == 1)
    }

    @Test func aSchemaDescribesOneRecordOrTheListOfRecords() async throws {
        func violations(_ text: String, _ type: String) async throws -> [String] {
            let type = MediaType("application", type)
            return try await self.violations("POST /lines", body: .data(Data(text.utf8), mediaType: type))
        }
        #expect(try await violations("1\n2\n", "x-ndjson") == [])
        #expect(try await violations("1\n\"a\"\n", "x-ndjson").count == 1)
        #expect(try await violations("1\nx\n", "x-ndjson").count == 1)
        #expect(try await violations("1\n2\n", "jsonl") == [])
        #expect(try await violations("[1]\n[2]\n[3]\n", "jsonl") == [])
        #expect(try await violations("1\n2\n3\n", "jsonl").count == 3)
    }
}
