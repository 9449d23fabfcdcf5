// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10)))
struct ResponseCheckTests {
    private let tea = "#/components/schemas/Tea"
    private let teas = "#/paths/~1teas/get/responses/200"
}

extension ResponseCheckTests {
    private func violations(_ line: String, _ answer: TestConnectorResponse) async throws -> [String] {
        let body: RequestBody = line.hasPrefix("POST") ? .json(["name": "x"]) : .empty
        return try await ShopDocument.violations(line, body: body, answer: answer)
    }

    private func json(_ text: String, _ status: HTTPStatus = 200, _ headers: HTTPHeaders = [:]) -> TestConnectorResponse
    {
        let typed: HTTPHeaders = ["Content-Type": "application/json"]
        return .data(Data(text.utf8), status: status, headers: typed.merging(headers))
    }

    @Test func aValidResponseHasNoViolation() async throws {
        #expect(try await violations("GET /teas/1", json(#"{"id":1,"name":"x","origin":null,"more":1}"#)).isEmpty)
        #expect(try await violations("GET /teas?page=1", json("[]", 200, ["X-Total-Count": "3"])).isEmpty)
        #expect(try await violations("DELETE /teas/1", .status(204)).isEmpty)
        #expect(try await violations("GET /teas/1", .status(503)).isEmpty)
        #expect(try await violations("GET /teas/1", .failure(URLError(.timedOut))).isEmpty)
        #expect(
            try await violations("GET /teas/best", .data(Data("green".utf8), headers: ["Content-Type": "text/plain"]))
                .isEmpty
        )
        #expect(
            try await violations("GET /files/a.png", .data(Data([1]), headers: ["Content-Type": "image/png"])).isEmpty
        )
        #expect(
            try await violations(
                "GET /points/;at=1",
                .data(Data("1\n2\n".utf8), headers: ["Content-Type": "application/jsonl"])
            ).isEmpty
        )
    }

    @Test func aBodyIsComparedWithItsSchema() async throws {
        #expect(
            try await violations("GET /teas/1", json(#"{"id":"1"}"#)) == [
                "the response body: the member \"name\" is missing (\(tea)/required)",
                "the response body at /id: it is a string, but the schema requires integer (\(tea)/properties/id/type)",
            ]
        )
        #expect(
            try await violations("GET /teas/best", .data(Data("greener".utf8), headers: ["Content-Type": "text/plain"]))
                == [
                    "the response body: it has 7 characters, but at most 5 are allowed "
                        + "(#/paths/~1teas~1best/get/responses/200/content/text~1plain/schema/maxLength)"
                ]
        )
        #expect(
            try await violations(
                "GET /points/;at=1",
                .data(Data("1\n\"a\"\n".utf8), headers: ["Content-Type": "application/jsonl"])
            ) == [
                "the response body: it is a string, but the schema requires integer "
                    + "(#/paths/~1points~1{at}/get/responses/200/content/application~1jsonl/itemSchema/type)"
            ]
        )
    }

    @Test(arguments: [
        // The item describes the fields of an event.
        (
            #"{"required":["id","data"],"properties":{"id":{"type":"string"},"retry":{"type":"integer"},"#
                + #""data":{"type":"string"}}}"#,
            "id: 1\nretry: 5\ndata: a\n\n", "data: a\n\n", "the member \"id\" is missing", "required"
        ),
        // The item describes the text in the data, and the JSON in that text.
        (
            #"{"properties":{"data":{"type":"string","contentSchema":{"type":"integer"}}}}"#,
            ": ping\n\ndata: 1\n\ndata:\ndata:2\n\nevent: empty\n\n", "data: 1\r\n\r\ndata: []\r\n\r\n",
            "it is an array, but the schema requires integer", "properties/data/contentSchema/type"
        ),
        (
            #"{"properties":{"data":{"type":"string","contentSchema":{"type":"integer"}}}}"#,
            "data: 1\n\n", "data: one\n\n", "the data of an event is not JSON", "properties/data/contentSchema"
        ),
        (
            #"{"properties":{"data":{"type":"object"}}}"#, "data: {}\n\n", "data: 1\n\n",
            "it is an integer, but the schema requires object", "properties/data/type"
        ),
        // The alternative with the event's name describes the data.
        (
            #"{"oneOf":[{"properties":{"event":{"const":"a"},"data":{"contentSchema":{"type":"null"}}}},"#
                + #"{"properties":{"event":{"const":"b"},"data":{"contentSchema":{"type":"integer"}}}}]}"#,
            "event: b\ndata: 1\n\n", "event: a\ndata: 1\n\n", "it is an integer, but the schema requires null",
            "oneOf/0/properties/data/contentSchema/type"
        ),
        // The item describes the JSON in the data.
        (
            #"{"type":"object","required":["x"]}"#, "data: {\"x\":\ndata: 1}\n\n", "data: {}\n\n",
            "the member \"x\" is missing", "required"
        ),
    ])
    func eachEventIsComparedWithTheItemSchema(
        _ item: String,
        _ fitting: String,
        _ violating: String,
        _ sentence: String,
        _ pointer: String
    ) async throws {
        let content = #"{"text/event-stream":{"itemSchema":\#(item)}}"#
        let text = #"{"openapi":"3.2.0","paths":{"/feed":{"get":{"responses":{"200":{"content":\#(content)}}}}}}"#
        func violations(_ body: String) async throws -> [String] {
            let answer = TestConnectorResponse.data(Data(body.utf8), headers: ["Content-Type": "text/event-stream"])
            return try await ShopDocument.violations("GET /feed", answer: answer, in: text)
        }
        #expect(try await violations(fitting) == [])
        let found = try await violations(violating)
        #expect(found.count == 1)
        #expect(found.first?.contains(sentence) == true, "\(found)")
        let end = "/text~1event-stream/itemSchema/\(pointer))"
        #expect(found.first?.hasSuffix(end) == true, "\(found)")
        for seed in UInt64(1)...8 {
            let url = try #require(URL(string: "https://shop.example.com/feed"))
            let backend = FakeBackend(try ShopDocument.document(text), seed: seed)
            let answer = try await backend.response(for: ApiRequest(url: url))
            #expect(try await ShopDocument.violations("GET /feed", answer: answer, in: text) == [])
        }
    }

    @Test func anEmptyTextOrStreamIsABody() async throws {
        for (line, type) in [("GET /teas/best", "text/plain"), ("GET /points/;at=1", "application/jsonl")] {
            #expect(try await violations(line, .data(Data(), headers: ["Content-Type": type])).isEmpty)
            #expect(try await violations(line, .status(200)).isEmpty)
        }
        #expect(try await violations("GET /teas/1", json("")).count == 1)
    }

    @Test func ofACompressedBodyOnlyTheMediaTypeIsChecked() async throws {
        #expect(try await violations("GET /teas/1", json("x", 200, ["Content-Encoding": "gzip"])).isEmpty)
    }

    @Test func aBodyInStepsIsComparedAndAFedBodyIsNot() async throws {
        let head: HTTPHeaders = ["Content-Type": "application/json"]
        let steps = TestConnectorResponse.chunks([Data("{".utf8), Data("}".utf8)], headers: head)
        #expect(try await violations("GET /teas/1", steps).count == 2)
        #expect(try await violations("GET /teas/1", .feed(BodyFeed(), headers: head)).isEmpty)
    }

    @Test func anOperationWithoutDocumentedResponsesAcceptsEachResponse() async throws {
        #expect(try await violations("GET /notes", .status(204)).isEmpty)
        #expect(try await violations("GET /notes", json(#"{"a":1}"#, 500)).isEmpty)
    }

    @Test func aClassOfStatusesCanBeInLowercase() async throws {
        let text = #"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{},"4xx":{"description":""}}}}}}"#
        #expect(try await ShopDocument.violations("GET /a", answer: .status(404), in: text).isEmpty)
        #expect(try await ShopDocument.violations("GET /a", answer: .status(500), in: text).count == 1)
        let backend = FakeBackend(try ShopDocument.document(text), responseKey: "4xx")
        let request = ApiRequest(url: try #require(URL(string: "https://shop.example.com/a")))
        #expect(try await backend.response(for: request).canned?.0 == 400)
    }

    @Test func statusMediaTypeAndHeaderFieldsAreChecked() async throws {
        #expect(
            try await violations("DELETE /teas/1", .status(200)) == [
                "the response: the status is 200, but the document has 204 (#/paths/~1teas~1{id}/delete/responses)"
            ]
        )
        #expect(
            try await violations("POST /teas", json("{}", 404)) == [
                "the response body: the media type is application/json, but the document has application/problem+json "
                    + "(#/paths/~1teas/post/responses/4XX/content)"
            ]
        )
        #expect(
            try await violations("GET /teas?page=1", json("[]")) == [
                "the header field \"X-Total-Count\": it is required, but missing (\(teas)/headers/X-Total-Count)"
            ]
        )
        #expect(
            try await violations("GET /teas?page=1", json("[]", 200, ["X-Total-Count": "many"])) == [
                "the header field \"X-Total-Count\": it is a string, but the schema requires integer "
                    + "(\(teas)/headers/X-Total-Count/schema/type)"
            ]
        )
        #expect(
            try await violations("GET /teas/1", .status(200)) == [
                "the response body: it is empty, but the document defines one "
                    + "(#/paths/~1teas~1{id}/get/responses/200/content)"
            ]
        )
        #expect(
            try await violations("GET /teas/1", json("{}", 500)) == [
                "the response body: there is a body, but the document defines none "
                    + "(#/paths/~1teas~1{id}/get/responses/default)"
            ]
        )
    }

    @Test(arguments: [
        (
            "openapi: 3.1.0",
            "shop.json is not JSON; to convert YAML or several files, run apiconnector-openapi convert"
        ),
        (#"{"swagger":"2.0"}"#, "shop.json is Swagger 2.0; convert it to OpenAPI 3, for example with swagger2openapi"),
        (#"{"openapi":"4.0"}"#, "shop.json is not an OpenAPI 3 document: its member \"openapi\" is \"4.0\""),
        ("{}", "shop.json is not an OpenAPI 3 document: its member \"openapi\" is null"),
        (
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/responses/A"}}}}}}"##,
            "shop.json has no #/components/responses/A, to which the $ref at #/paths/~1a/get/responses/200 leads; to join "
                + "a document of several files, run apiconnector-openapi convert"
        ),
        (
            ##"{"openapi":"3.1.0","paths":{"/a":{"$ref":"#/x"}},"x":{"put":{"parameters":[{"$ref":"b.json#/c"}]}}}"##,
            "shop.json has no b.json#/c, to which the $ref at #/x/put/parameters/0 leads"
        ),
        (
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"headers":{"x-a":{"$ref":"#/b"}}}}}}}}"##,
            "shop.json has no #/b, to which the $ref at #/paths/~1a/get/responses/200/headers/x-a leads"
        ),
    ])
    func aFileThatIsNotADocumentIsRefused(_ text: String, _ sentence: String) throws {
        let error = #expect(throws: ApiConnectorError.self) { try ShopDocument.document(text) }
        #expect(error?.kind == .decodingFailed)
        #expect(error?.description.contains(sentence) == true, "\(String(describing: error))")
    }
}
