// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10)))
struct FakeBackendTests {}

extension FakeBackendTests {
    private static let requests: [(String, HTTPHeaders, RequestBody)] = [
        ("GET /teas?page=1", [:], .empty),
        ("POST /teas", [:], .json(["name": "green"])),
        ("GET /teas/7", [:], .empty),
        ("DELETE /teas/7", [:], .empty),
        ("GET /teas/best", [:], .empty),
        ("GET /files/a.png", [:], .empty),
        ("GET /points/;at=1", [:], .empty),
        ("POST /login", [:], .form(["user": "a", "password": "b"])), ("GET /notes", [:], .empty),
        ("PUT /notes", [:], .json(["a": 1])), ("PUT /notes", [:], .text("a")),
    ]

    private func request(_ line: String, _ headers: HTTPHeaders = [:], _ body: RequestBody = .empty) throws
        -> ApiRequest
    {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let url = try #require(URL(string: "https://shop.example.com" + parts[1]))
        return ApiRequest(url: url, method: HTTPMethod(rawValue: parts[0]), headers: headers, body: body)
    }

    private func answer(_ request: ApiRequest, seed: UInt64 = 1, in text: String = ShopDocument.text) async throws
        -> Data
    {
        let answer = try await FakeBackend(try ShopDocument.document(text), seed: seed).response(for: request)
        return try #require(answer.canned).1
    }

    @Test(arguments: Array(requests.indices), UInt64(1)...12)
    func eachAnswerMatchesTheDocument(_ index: Int, _ seed: UInt64) async throws {
        let (line, headers, body) = Self.requests[index]
        let document = try ShopDocument.document()
        let request = try request(line, headers, body)
        let answer = try await FakeBackend(document, seed: seed).response(for: request)
        let sent = RecordedRequest(number: 1, request: request, body: try await request.collectedBody())
        let place = CodeLocation(#fileID, #filePath, #line)
        let exchange = ScriptExchange(sent: sent, response: answer, place: place)
        #expect(document.violations(of: exchange).map(\.description) == [])
    }

    @Test func theTypeThatTheCallerPrefersIsAnswered() async throws {
        func body(_ accept: String) async throws -> String {
            String(decoding: try await answer(try request("GET /report", ["Accept": accept])), as: UTF8.self)
        }
        #expect(try await body("text/plain, application/json") == "plain")
        #expect(Int(try await body("*/*")) != nil)
        #expect(Bool(try await body("application/json+x")) != nil)
        #expect(Int(try await body("text/plain;q=0.5, application/json")) != nil)
        #expect(Int(try await body("text/plain;q=0, */*;q=0.1")) != nil)
        #expect(try await body("application/*;q=0, */*") == "plain")
    }

    @Test func aRedirectLeadsToSomeBytes() async throws {
        let backend = FakeBackend(try ShopDocument.document())
        let moved = try await backend.response(for: try request("GET /moved"))
        guard case .response(302, let headers, _) = moved.answer else {
            Issue.record("not a redirect")
            return
        }
        let target = try #require(headers[.location].flatMap { URL(string: $0) })
        let file = try await backend.response(for: ApiRequest(url: target))
        #expect(file.canned?.0 == 200)
        #expect(file.canned?.1 == Data([1, 2, 3]))
    }

    @Test(arguments: [("201", 201), ("404", 404), ("4XX", 401), ("default", 500)])
    func theAnswerIsTheResponseWithTheChosenKey(_ key: String, _ status: HTTPStatus) async throws {
        let text =
            #"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":"#
            + #"{"201":{},"400":{},"404":{},"4XX":{},"default":{}}}}}}"#
        let url = try #require(URL(string: "https://shop.example.com/a"))
        let backend = FakeBackend(try ShopDocument.document(text), responseKey: key)
        #expect(try await backend.response(for: ApiRequest(url: url)).canned?.0 == status)
    }

    @Test func anOperationCanBeAReference() async throws {
        let text =
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"$ref":"#/components/x-operations/a"}}},"##
            + ##""components":{"x-operations":{"a":{"responses":{"202":{}}}}}}"##
        let url = try #require(URL(string: "https://shop.example.com/a"))
        let answer = try await FakeBackend(try ShopDocument.document(text)).response(for: ApiRequest(url: url))
        #expect(answer.canned?.0 == 202)
    }

    @Test func theSameSeedAndRequestHaveTheSameAnswer() async throws {
        let first = try request("GET /teas/1")
        let one = try await answer(first)
        #expect(try await answer(first) == one)
        #expect(try await answer(first, seed: 2) != one)
        #expect(try await answer(try request("GET /teas/2")) != one)
    }

    @Test func anExampleIsTheAnswerIfItMatchesItsSchema() async throws {
        let marker = #""content":{"text/plain":{"#
        let fitting = ShopDocument.text.replacing(marker, with: marker + #""example":"sencha","#)
        #expect(
            String(decoding: try await answer(try request("GET /teas/best"), in: fitting), as: UTF8.self) != "sencha"
        )
        let short = ShopDocument.text.replacing(
            marker,
            with: marker + #""examples":{"a":{"value":"matcha"},"b":{"value":"mate"}},"#
        )
        #expect(String(decoding: try await answer(try request("GET /teas/best"), in: short), as: UTF8.self) == "mate")
    }

    private func answer(ofContent content: String) async throws -> String {
        let text = #"{"openapi":"3.2.0","paths":{"/a":{"get":{"responses":{"200":{"content":{\#(content)}}}}}}}"#
        return String(decoding: try await answer(try request("GET /a"), in: text), as: UTF8.self)
    }

    @Test func anExampleOfABodyThatIsNotJSONIsTheAnswer() async throws {
        #expect(try await answer(ofContent: #""application/xml":{"example":"<tea/>"}"#) == "<tea/>")
        let serialized = #""examples":{"a":{"dataValue":{"id":1},"serializedValue":"<tea id='1'/>"}}"#
        #expect(try await answer(ofContent: #""application/tea+xml":{\#(serialized)}"#) == "<tea id='1'/>")
        #expect(try await answer(ofContent: #""application/pdf":{"example":"%PDF"}"#) == "%PDF")
        let form = #""application/x-www-form-urlencoded":{"example":{"token":"a b&c","scope":["x","y"]}}"#
        #expect(try await answer(ofContent: form) == "scope=x&scope=y&token=a%20b%26c")
    }

    @Test(arguments: [
        "application/x-jsonlines", "application/geo+json-seq", "application/x-ndjson",
        "application/x-www-form-urlencoded",
    ])
    func anAnswerThatIsNotJSONMatchesItsSchema(_ type: String) async throws {
        let schema =
            #"{"type":"object","required":["ids"],"properties":{"ids":{"type":"array","items":{"type":"integer"}}}}"#
        for keyword in type.hasSuffix("seq") ? ["schema", "itemSchema"] : ["schema"] {
            let content = #""\#(type)":{"\#(keyword)":\#(schema)}"#
            let text = #"{"openapi":"3.2.0","paths":{"/a":{"get":{"responses":{"200":{"content":{\#(content)}}}}}}}"#
            for seed in UInt64(1)...4 {
                let backend = FakeBackend(try ShopDocument.document(text), seed: seed)
                let answer = try await backend.response(for: try request("GET /a"))
                #expect(try await ShopDocument.violations("GET /a", answer: answer, in: text) == [])
            }
        }
    }

    @Test func aViolationInAnIgnoredSchemaIsNoReasonToRefuse() async throws {
        let file = try TemporaryFolder()
        _ = try file.write(Data(ShopDocument.text.utf8), to: "shop.json")
        let pointer = "#/paths/~1teas/get/parameters/0"
        let strict = try FakeBackend(openAPI: file.file("shop.json"))
        let lenient = try FakeBackend(openAPI: file.file("shop.json"), ignoring: [pointer])
        await #expect(throws: ApiConnectorError.self) { _ = try await strict.response(for: try request("GET /teas")) }
        #expect(try await lenient.response(for: try request("GET /teas")).canned?.0 == 200)
    }

    @Test func aSchemaWithoutAnyGeneratedValueIsAnError() async throws {
        let schema = #"{"type":"string","not":{"type":"string"}}"#
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await answer(ofContent: #""application/json":{"schema":\#(schema)}"#)
        }
        #expect(error?.kind == .unmatched)
        #expect(
            error?.description.contains(
                "shop.json has no example for the answer, and no value could be generated for it: it matches a forbidden "
                    + "schema (#/paths/~1a/get/responses/200/content/application~1json/schema/not); add an example"
            ) == true,
            "\(String(describing: error))"
        )
    }

    @Test func withoutASuccessfulResponseTheFirstOneIsTheAnswer() async throws {
        let text =
            #"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"4XX":{"description":""},"x-b":{}}}},"#
            + #""/b":{"get":{"responses":{"404":{},"5XX":{}}}}}}"#
        let backend = FakeBackend(try ShopDocument.document(text))
        #expect(try await backend.response(for: try request("GET /a")).canned?.0 == 400)
        #expect(try await backend.response(for: try request("GET /b")).canned?.0 == 404)
    }

    @Test func aRequestThatMatchesOneOfSeveralOperationsIsAnswered() async throws {
        let backend = FakeBackend(try ShopDocument.document())
        #expect(try await backend.response(for: try request("PUT /notes", [:], .text("a"))).canned?.0 == 204)
        await #expect(throws: ApiConnectorError.self) {
            _ = try await backend.response(for: try request("GET /nowhere"))
        }
    }

    @Test func anInvalidRequestFailsWithEachViolation() async throws {
        let backend = FakeBackend(try ShopDocument.document())
        let shop = NetworkConnector(environment: .test, provider: TestConnector(backend), router: Shop.self)
        let error = await #expect(throws: ApiConnectorError.self) { _ = try await shop.data(at: .teas(page: 0)) }
        #expect(error?.kind == .unmatched)
        #expect(
            error?.description.contains(
                "it violates shop.json: the query parameter \"page\": 0 is not at least 1 "
                    + "(#/paths/~1teas/get/parameters/0/schema/minimum)"
            ) == true
        )
        #expect(try await shop.value(Tea.self, at: .tea(id: 3)).name.isEmpty == false)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SchemaValuesTests {}

extension SchemaValuesTests {
    private static let schemas = [
        #"{"type":"integer","minimum":5,"maximum":7}"#,
        #"{"type":"integer","exclusiveMinimum":5,"multipleOf":4}"#,
        #"{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}"#,
        #"{"type":"number","maximum":-3}"#, #"{"type":"number","multipleOf":0.01,"minimum":0.295,"maximum":0.305}"#,
        #"{"type":"number","multipleOf":0.1,"exclusiveMinimum":0.2}"#,
        #"{"type":"number","multipleOf":0.5,"maximum":-7.2}"#, #"{"type":"number","multipleOf":5,"maximum":3}"#,
        #"{"type":"number","multipleOf":0.01,"exclusiveMaximum":0.01}"#,
        #"{"type":"integer","maximum":-1,"multipleOf":5}"#, #"{"type":"integer","minimum":-7,"multipleOf":5}"#,
        #"{"type":"string","minLength":30,"maxLength":31}"#,
        #"{"type":"string","maxLength":2}"#,
        #"{"type":"string","pattern":"^[a-z]{2,4}-\\d+$"}"#,
        #"{"type":"string","pattern":"^(0|[1-9][0-9]*)$","maxLength":3}"#,
        #"{"type":"string","pattern":"^[^@ ]+@[\\w.]+\\.(com|org)$"}"#,
        #"{"type":"string","pattern":"^[a-f0-9]{40}$"}"#,
        #"{"type":"string","format":"date-time"}"#, #"{"type":"string","format":"date"}"#,
        #"{"type":"string","format":"uuid"}"#, #"{"type":"string","format":"uri"}"#,
        #"{"type":"string","format":"ipv4"}"#, #"{"type":"string","format":"byte"}"#,
        #"{"type":"string","contentEncoding":"base64"}"#, #"{"type":"string","pattern":"^(?:a|b)(?=c)c$"}"#,
        #"{"type":"string","pattern":"^(?<name>x)\\u0041\\x42$"}"#, #"{"type":"string","pattern":"^\\p{L}{3}$"}"#,
        #"{"type":["integer","string"],"allOf":[{"type":["number","null"]}]}"#,
        #"{"anyOf":[{"type":"null"}],"type":["number","integer","null"]}"#,
        #"{"type":"number","allOf":[{"type":"integer"}]}"#, #"{"type":"integer","allOf":[{"type":"number"}]}"#,
        #"{"type":"object","required":["a"],"properties":{"a":{"type":"integer","example":7}}}"#,
        #"{"type":["null","string"],"enum":[null,"a"]}"#,
        #"{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"integer"}}"#,
        #"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}]}"#,
        #"{"type":"object","minProperties":2,"additionalProperties":{"type":"integer"}}"#,
        #"{"required":["a"],"properties":{"a":{"type":"boolean"}}}"#,
        #"{"allOf":[{"required":["a"],"properties":{"a":{"type":"integer"}}},{"properties":{"a":{"minimum":9}}}]}"#,
        #"{"enum":[9],"allOf":[{"oneOf":[{"const":1},{"const":2},{"const":3},{"const":4},{"const":5},{"const":6},"#
            + #"{"const":7},{"const":8},{"const":9}]}]}"#,
        #"{"oneOf":[{"required":["a"],"not":{}},{"required":["b"],"properties":{"b":{"const":5}}}]}"#,
        ##"{"required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]},"more":{"type":"array","items":{"$ref":"#"}}}}"##,
        ##"{"oneOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}],"discriminator":{"propertyName":"kind"},"##
            + ##""$defs":{"cat":{"required":["kind"],"properties":{"kind":{"type":"string"}}},"dog":{"required":["kind","x"]}}}"##,
    ]

    @Test(arguments: schemas)
    func aGeneratedValueMatchesItsSchema(_ schema: String) throws {
        let node = try node(schema)
        let checker = SchemaChecker(direction: .response, checksFormats: true)
        for seed in 0..<40 {
            var values = SchemaValues(checker: checker, random: KeyedRandom(UInt64(seed), schema))
            let value = values.value(for: node)
            #expect(checker.violations(of: value, against: node) == [], "\(value)")
        }
    }

    @Test func anExampleThatNoIntegerOf64BitsCanHoldIsNotUsed() throws {
        let tooLarge: JSONValue = try #require(JSONValue(document: Data("9223372036854776000".utf8)))
        for type in [#""integer""#, #"["integer","null"]"#] {
            let schema = #"{"properties":{"bytes":{"type":\#(type),"example":9223372036854776000}}}"#
            var values = SchemaValues(checker: SchemaChecker(), random: KeyedRandom(1, ""))
            let value = values.value(for: try node(schema), examples: [["bytes": tooLarge]])
            #expect(value.object?["bytes"]?.number?.integer(as: Int64.self) != nil, "\(value)")
        }
        for other in [#"{"type":"integer","format":"uint64"}"#, #"{"type":"number"}"#] {
            var values = SchemaValues(checker: SchemaChecker(), random: KeyedRandom(1, ""))
            #expect(values.value(for: try node(other), examples: [tooLarge]) == tooLarge)
        }
    }

    @Test func aDiscriminatorNamesTheAlternativeAlsoIfItsSchemaListsAllNames() throws {
        let schema =
            ##"{"anyOf":[{"$ref":"#/$defs/cat"},{"$ref":"#/$defs/dog"}],"discriminator":{"propertyName":"kind","##
            + ##""mapping":{"c":"#/$defs/cat","d":"#/$defs/dog"}},"$defs":{"cat":{"required":["kind"],"##
            + ##""properties":{"kind":{"enum":["d","c"]}}},"dog":{"allOf":[{"$ref":"#/$defs/cat"}],"required":["x"]}}}"##
        for seed: UInt64 in 0..<20 {
            var values = SchemaValues(checker: SchemaChecker(), random: KeyedRandom(seed, ""))
            #expect(values.value(for: try node(schema)) == ["kind": "c"])
        }
    }

    @Test(arguments: [
        #"{"type":"array","maxItems":-1}"#, #"{"enum":[null,null]}"#, #"{"pattern":"a{-1}"}"#,
        #"{"pattern":"a{0,-1}"}"#, #"{"pattern":"a{2,1}"}"#,
        #"{"type":"integer","minimum":5e18,"multipleOf":5000000000000000000}"#,
        #"{"type":"integer","minimum":-1e19,"maximum":1e19,"multipleOf":9223372036854775807}"#,
        #"{"type":"object","minProperties":1000000000,"additionalProperties":{"type":"integer"}}"#,
        #"{"type":"string","pattern":"((a{1000}){1000}){1000}"}"#,
        #"{"pattern":"a{1\#(String(repeating: "0", count: 17))}"}"#,
        #"{"type":"number","multipleOf":1e-120,"minimum":1e308}"#,
        #"{"type":"integer","maximum":-9223372036854775808,"multipleOf":9223372036854775807}"#,
        #"{"type":"string","minLength":1e300,"maxLength":-1}"#,
        #"{"minItems":1000,"items":{"minItems":1000,"items":{"minItems":1000,"items":{"type":"integer"}}}}"#,
    ])
    func aHostileSchemaEndsWithAValue(_ schema: String) throws {
        var values = SchemaValues(checker: SchemaChecker(checksFormats: true), random: KeyedRandom(1, schema))
        _ = values.value(for: try node(schema))
    }

    @Test func aPatternWithManyGroupsDoesNotExhaustTheStack() throws {
        let groups = String(repeating: "(", count: 100_000) + "a"
        var random = KeyedRandom(1, "")
        #expect(PatternText.text(for: groups, minimum: 0, using: &random).count < 10)
    }

    @Test func alternativesThatContainEachOtherEndWithAValue() throws {
        let schema =
            ##"{"$ref":"#/$defs/filter","$defs":{"filter":{"oneOf":[{"$ref":"#/$defs/and"},{"$ref":"#/$defs/leaf"}]},"##
            + ##""and":{"required":["left","right"],"properties":{"left":{"$ref":"#/$defs/filter"},"##
            + ##""right":{"$ref":"#/$defs/filter"}}},"leaf":{"required":["value"],"properties":{"value":{"type":"integer"}},"##
            + ##""additionalProperties":false}}}"##
        var values = SchemaValues(checker: SchemaChecker(), random: KeyedRandom(1, ""))
        let node = try node(schema)
        #expect(values.checker.accepts(values.value(for: node), node))
    }

    @Test func aDiscriminatorNamesTheAlternative() throws {
        let schema =
            ##"{"oneOf":[{"$ref":"#/$defs/cat"}],"discriminator":{"propertyName":"kind","mapping":{"c":"#/$defs/cat"}},"##
            + ##""$defs":{"cat":{"required":["kind"],"properties":{"kind":{"type":"string"}}}}}"##
        var values = SchemaValues(checker: SchemaChecker(), random: KeyedRandom(1, ""))
        #expect(values.value(for: try node(schema)) == ["kind": "c"])
    }
}
