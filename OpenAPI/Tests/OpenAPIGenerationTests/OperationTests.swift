// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of operations with unusual paths, parameters, media types, servers and security.
struct OperationTests {
    @Test(arguments: ["/a{b", "/a}", "/{}", "/{a{b}}"])
    func aPathWithALoneBraceIsRefused(_ path: String) {
        let error = #expect(throws: DocumentError.self) { try generated("paths: { '\(path)': { get: {} } }") }
        #expect(error?.description.contains("an unmatched brace") == true, "\(error?.description ?? "")")
    }

    @Test func aSchemeThatIsNotDefinedIsRefused() {
        for security in ["security: [{ no: [] }]\npaths: {}", "paths: { /a: { get: { security: [{ no: [] }] } } }"] {
            let text = "components: { securitySchemes: { a: { type: http, scheme: bearer } } }\n" + security
            let error = #expect(throws: DocumentError.self) { try generated(text) }
            #expect(error?.description.contains("there is no security scheme \"no\"") == true)
        }
    }

    @Test func schemesWithNamesThatBecomeOneAreTwo() throws {
        let code = try generated(
            """
            components:
              securitySchemes:
                my-key: { type: apiKey, in: header, name: A }
                myKey: { type: apiKey, in: header, name: B }
            security: [{ my-key: [] }]
            paths: { /a: { get: { operationId: a, security: [{ myKey: [] }, {}] } } }
            """
        ).code
        #expect(code.contains(#"security: [["myKey"], []]"#), "\(code)")
        #expect(
            code.contains(#"OperationCredentials(["my-key": myKey, "myKey": myKey2], security: [["my-key"]])"#),
            "\(code)"
        )
    }

    @Test func bodiesOfBytesInSeveralTypesDoNotCollide() throws {
        let result = try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    required: true
                    content: { application/octet-stream: {}, application/x-ndjson: {}, application/json-seq: {} }
              /b:
                post: { operationId: b, requestBody: { content: { image/png: {}, image/jpeg: {} } } }
            """
        )
        #expect(result.code.contains("static func a(lines: RequestBody)"))
        #expect(result.code.contains("static func a(sequence: RequestBody)"))
        #expect(result.code.contains("static func a(file: RequestBody)"))
        #expect(result.code.contains("Its media type is `image/png` or `image/jpeg`."))
        #expect(result.warnings.map(\.pointer) == ["a.yaml#"])
    }

    @Test func theEncodingOfAFormChangesNoOtherUseOfItsSchema() throws {
        let code = try generated(
            """
            components: { schemas: { F: { type: object, properties: { f: { type: string, format: binary } } } } }
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    content: { multipart/form-data: { schema: { $ref: "#/components/schemas/F" }, encoding: { f: { contentType: image/png } } } }
                put:
                  operationId: b
                  requestBody: { content: { multipart/form-data: { schema: { $ref: "#/components/schemas/F" } } } }
            """
        ).code
        #expect(code.contains("form.add(\"f\", f, as: \"image/png\")"))
        #expect(code.contains("form.add(\"f\", f)\n"))
    }

    @Test func ignoredPartsHaveAWarning() throws {
        let result = try generated(
            """
            oops: 1
            paths:
              /a:
                post:
                  operationId: a
                  oops: 1
                  parameters: [{ name: p, in: query, oops: 1, style: label, content: { text/xml: {} } }]
                  requestBody:
                    oops: 1
                    content:
                      application/x-www-form-urlencoded:
                        oops: 1
                        schema: { type: object, properties: { a: { type: array, items: { type: string } } } }
                        encoding: { a: { style: spaceDelimited } }
                  responses:
                    "101": { content: { application/json: { schema: { type: object, properties: { never: {} } } } } }
                    "200": { oops: 1, content: { text/event-stream: {}, application/x-ndjson: {} } }
                    "400": { content: { text/plain: {} } }
              /b:
                post: { operationId: b, requestBody: { content: { multipart/mixed: { schema: { type: object, properties: { a: { type: string } } } } } } }
            """
        )
        let pointers = Set(result.warnings.map(\.pointer))
        let post = "a.yaml#/paths/~1a/post"
        let wanted: Set = [
            "a.yaml#/oops", post + "/oops", post + "/parameters/0/oops", post + "/parameters/0",
            post + "/requestBody/oops", post + "/requestBody/content/application~1x-www-form-urlencoded/oops",
            post + "/requestBody/content/application~1x-www-form-urlencoded/encoding", post + "/responses/200/oops",
            post + "/responses/101/content/application~1json",
            post + "/responses/200/content/application~1x-ndjson", post + "/responses/400/content/text~1plain",
            "a.yaml#/paths/~1b/post/requestBody/content/multipart~1mixed", "a.yaml#",
        ]
        #expect(pointers == wanted)
        #expect(!result.code.contains("never"))
        // A style that is not possible in a place is ignored.
        #expect(result.code.contains(".form(\"p\", p)"))
    }

    @Test func serversWithVariablesForSchemeUserOrHostAreRead() throws {
        let result = try generated(
            """
            servers:
              - { url: "{scheme}://a.example/x%20y?z", variables: { scheme: { default: http } } }
              - { url: "https://me:secret@b.example" }
              - { url: "/v1/{host}", variables: { host: { default: h } } }
              - { url: "http://[::1]:8080" }
            paths: {}
            """
        )
        let code = result.code
        #expect(code.contains("static func production(scheme: HTTPScheme = .http) -> Self {"), "\(code)")
        #expect(code.contains("Self(host: \"a.example\", scheme: scheme, basePath: \"/x y\")"))
        #expect(code.contains("Self(host: \"b.example\")"))
        #expect(code.contains("(host: String, host2: String = \"h\") -> Self {"))
        #expect(code.contains("Self(host: \"::1\", scheme: .http, port: 8080)"))
        #expect(!code.contains("host: \"me:secret"))
        #expect(result.warnings.count == 3)
    }

    @Test func serversWithAPortInAVariableOrWithoutASchemeAreRead() throws {
        let result = try generated(
            """
            servers:
              - { url: "http://{host}/v1", description: Staging, variables: { host: { default: "localhost:8080" } } }
              - { url: "https://{tenant}.b.example", description: Tenants }
              - { url: "//c.example/v3", description: Third }
            paths: {}
            """
        )
        let code = result.code
        let staging = "static let staging = Self(host: \"localhost\", scheme: .http, port: 8080, basePath: \"/v1\")"
        #expect(code.contains(staging))
        #expect(code.contains("static func tenants(tenant: String) -> Self {"))
        #expect(code.contains("Self(host: \"\\(tenant).b.example\")"))
        #expect(code.contains("static let third = Self(host: \"c.example\", basePath: \"/v3\")"))
        #expect(result.warnings.count == 2)
    }

    @Test(arguments: [
        "Test environment for Sandbox": "sandbox", "Production": "production", "Main": "production",
        "Only for internal testing": "internaltesting", "Local government API": "production",
    ])
    func theFirstServerIsProductionUnlessItSaysOtherwise(_ description: String, _ part: String) throws {
        let code = try generated("servers: [{ url: 'https://a.example', description: \(description) }]\npaths: {}").code
        #expect(code.lowercased().contains("static let") && code.lowercased().contains(part))
        #expect(code.contains("static let production") == (part == "production"))
    }

    @Test func aServerOnTheSameComputerIsNotProduction() throws {
        let code = try generated("servers: [{ url: 'http://localhost:8080' }]\npaths: {}").code
        #expect(code.contains("static let localhost = Self(host: \"localhost\", scheme: .http, port: 8080)"))
    }

    @Test func aLongTagHasAShortFileName() throws {
        let tag = String(repeating: "long ", count: 80)
        let files = try generated("paths: { /a: { get: { tags: [\(tag)], operationId: a } } }").files
        #expect(files.allSatisfy { $0.name.utf8.count < 255 })
    }

    @Test func warningsAreThoseOfTheSelectedOperations() throws {
        let yaml = """
            paths:
              /a: { get: { operationId: a } }
              /b: { get: { operationId: b, callbacks: { c: {} }, parameters: [{ name: q, in: query, allowReserved: true }] } }
            """
        #expect(try generated(yaml) { $0.operations = ["a"] }.sentences.filter { !$0.contains("servers") } == [])
        #expect(try generated(yaml) { $0.operations = ["b"] }.sentences.count { !$0.contains("servers") } == 2)
    }

    @Test func aRangeOfMediaTypesIsNotSent() throws {
        let yaml = """
            paths:
              /a: { post: { operationId: a, requestBody: { required: true, content: { "application/*": { schema: { type: string } } } } } }
              /b: { post: { operationId: b, requestBody: { required: true, content: { "text/*": { schema: { type: string } } } } } }
            """
        let code = try generated(yaml).code
        #expect(code.contains("body: .json(body))"))
        #expect(code.contains("body: .text(text))"))
    }

    @Test func aParameterWithJSONAndWithoutASchemaIsJSON() throws {
        let yaml = """
            components: { mediaTypes: { m: { schema: { type: object, properties: { x: { type: integer } } } } } }
            paths:
              /a:
                get:
                  operationId: a
                  parameters:
                    - { name: f, in: query, content: { application/json: {} } }
                    - { name: g, in: query, content: { application/json: { $ref: "#/components/mediaTypes/m" } } }
            """
        let code = try generated(yaml).code
        #expect(code.contains("f: JSONValue? = nil"))
        #expect(code.contains("var x: Int?"))
    }

    @Test func anItemOfAPathsQueryWithATemplateIsNotFixed() throws {
        let code = try generated(
            "paths: { '/a?q={q}&v=2': { get: { operationId: a, parameters: [{ name: q, in: query, schema: { type: string } }] } } }"
        ).code
        #expect(code.contains("query: [.form(\"v\", \"2\"), .form(\"q\", q)]"))
    }

    @Test func aTagWithTheNameOfASupportTypeGetsAnother() throws {
        let code = try generated("paths: { /a: { get: { tags: [operation], operationId: a } } }").code
        #expect(code.contains("struct OperationTagRouter: OperationRouter {"))
    }

    @Test func aRangeOfTypesIsBytesWhereTheSchemaSaysSo() throws {
        let code = try generated(
            "paths: { /a: { get: { operationId: a, responses: { 200: { content: { '*/*': { schema: { type: string, format: binary } } } } } } } }"
        ).code
        #expect(code.contains("static func a() -> Self {"))
    }

    @Test(arguments: ["tags", "paths", "operations"])
    func aSelectionThatNamesNothingIsRefused(_ key: String) {
        let error = #expect(throws: DocumentError.self) {
            try generated("paths: { /a: { get: { tags: [t], operationId: a } } }") { configuration in
                switch key {
                case "tags": configuration.tags = ["t", "no"]
                case "paths": configuration.paths = ["/no"]
                default: configuration.operations = ["no"]
                }
            }
        }
        #expect(error?.description.contains("no\"") == true)
    }

    @Test func aModelOfAParameterIsOneWhereEveryModelIsCodable() throws {
        let yaml = """
            paths:
              /a:
                get:
                  operationId: a
                  parameters:
                    - { name: f, in: query, style: deepObject, schema: { type: object, properties: { b: { type: string } } } }
                  responses: { 204: {} }
            """
        let code = try generated(yaml) { $0.isAlwaysCodable = true }.code
        #expect(code.contains(": ApiModel, ParameterValue {"))
        #expect(!(try generated(yaml).code).contains("ApiModel"))
    }

    @Test func aListOfObjectsIsSentAsJSONWithAWarning() throws {
        let result = try generated(
            """
            paths:
              /a:
                get:
                  operationId: a
                  parameters:
                    - { name: f, in: query, schema: { type: array, items: { type: object, properties: { b: { type: string } } } } }
                  responses: { 204: {} }
            """
        )
        #expect(result.code.contains(".form(\"f\", ParameterText.json(f))"))
        let dates = try generated(
            "paths: { /a: { get: { operationId: a, parameters: [{ name: f, in: query, schema: { type: array, items: { type: object, additionalProperties: { type: string, format: date-time } } } }] } } }"
        )
        #expect(dates.code.contains("f: [[String: DateTime]]? = nil"))
        #expect(result.warnings.map(\.pointer).contains("a.yaml#/paths/~1a/get/parameters/0"))
    }

    @Test func aFormWhoseSchemaIsAlsoJSONHasItsOwnType() throws {
        let code = try generated(
            """
            components: { schemas: { F: { type: object, properties: { f: { type: string, format: binary } } } } }
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    content:
                      application/json: { schema: { $ref: "#/components/schemas/F" } }
                      multipart/form-data: { schema: { $ref: "#/components/schemas/F" } }
            """
        ).code
        #expect(code.contains("static func a(body: F? = nil)"))
        // Only one of the functions can be called without a body.
        #expect(code.contains("static func a(form: AForm)"))
        #expect(code.contains("struct F: RequestModel {\n    var f: String?"))
        #expect(code.contains("struct AForm: Sendable {\n    var f: FormFile?"))
    }

    @Test func aStreamBesideJSONAcceptsOnlyItsOwnType() throws {
        func code(_ content: String) throws -> String {
            try generated("paths: { /a: { get: { operationId: a, responses: { 200: { content: { \(content) } } } } } }")
                .code
        }
        let stream = "text/event-stream: { schema: { type: string } }"
        #expect(
            try code("application/json: { schema: { type: integer } }, " + stream).contains("\"text/event-stream\"")
        )
        #expect(!(try code(stream)).contains("\"text/event-stream\""))
    }

    @Test(arguments: [
        ("itemSchema: { properties: { data: { type: string, contentSchema: { type: integer } } } }", "Int"),
        ("itemSchema: { properties: { data: { type: string, contentSchema: { type: string } } } }", "String"),
        ("itemSchema: { properties: { data: { type: string, contentMediaType: application/json } } }", "JSONValue"),
        ("itemSchema: { properties: { data: { type: integer } } }", "Int"),
        ("itemSchema: { properties: { data: { type: string }, event: { type: string } } }", "ServerSentEvent"),
        ("itemSchema: { type: integer }", "Int"), ("schema: { type: string }", "ServerSentEvent"),
        ("schema: { type: integer }", "Int"),
    ])
    func aStreamOfEventsHasTheTypeOfTheirData(_ content: String, _ type: String) throws {
        let result = try generated(
            "paths: { /a: { get: { operationId: a, responses: { 200: { content: { text/event-stream: { \(content) } } } } } } }"
        )
        #expect(result.code.contains("-> ApiCall<Router, \(type)> {"), "\(result.code)")
        #expect(result.warnings.map(\.pointer) == ["a.yaml#"])
    }

    @Test func eventsWithDifferentDataAreNotDecoded() throws {
        let result = try generated(
            """
            paths:
              /a:
                get:
                  operationId: a
                  responses:
                    200:
                      content:
                        text/event-stream:
                          itemSchema:
                            properties: { data: { type: string } }
                            oneOf: [{ properties: { data: { contentSchema: { type: integer } } } }, { type: object }]
            """
        )
        #expect(result.code.contains("-> ApiCall<Router, ServerSentEvent> {"))
        #expect(
            result.warnings.map(\.pointer).contains(
                "a.yaml#/paths/~1a/get/responses/200/content/text~1event-stream/itemSchema"
            )
        )
    }

    @Test func aMergePatchCanDeleteEachMemberThatIsNotRequired() throws {
        let result = try generated(
            """
            components:
              schemas:
                Pet:
                  type: object
                  required: [id, home]
                  properties:
                    id: { type: integer }
                    home: { type: object, properties: { city: { type: string } } }
                    name: { type: string }
                    owner: { $ref: "#/components/schemas/Owner" }
                    parent: { $ref: "#/components/schemas/Pet" }
                    friends: { type: array, items: { $ref: "#/components/schemas/Pet" } }
                    labels: { type: object, additionalProperties: { type: string } }
                    extra: {}
                Owner: { type: object, properties: { name: { type: string } } }
            paths:
              /a:
                patch:
                  operationId: a
                  requestBody:
                    required: true
                    content: { application/merge-patch+json: { schema: { $ref: "#/components/schemas/Pet" } } }
                  responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } } }
            """
        ) { $0.renames = ["Pet": "Animal"] }
        let code = result.code
        #expect(code.contains("static func a(body: PetPatch) -> ApiCall<Router, Animal> {"), "\(code)")
        let patch = try #require(code.split(separator: "struct PetPatch: RequestModel {").last).prefix { $0 != "}" }
        #expect(
            patch.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == [
                "var id: Int", "var home: PetHomePatch", "var name: Nullable<String>?",
                "var owner: Nullable<OwnerPatch>?", "var parent: Nullable<Indirect<PetPatch>>?",
                "var friends: Nullable<[Animal]>?", "var labels: Nullable<[String: String?]>?", "var extra: JSONValue?",
            ]
        )
        #expect(code.contains("struct PetHomePatch: RequestModel {\n    var city: Nullable<String>?\n}"))
        #expect(code.contains("struct OwnerPatch: RequestModel {\n    var name: Nullable<String>?\n}"))
        // The model itself has the types of the document.
        #expect(code.contains("    var name: String?\n    var owner: Owner?\n"))
    }

    @Test func aPartWithSeveralMediaTypesIsSentAsOneOfThem() throws {
        let result = try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    content:
                      multipart/form-data:
                        schema:
                          type: object
                          properties:
                            file: { type: string, format: binary, description: A picture. }
                            meta: { type: object, properties: { a: { type: string } } }
                            note: { type: string }
                        encoding:
                          file: { contentType: "image/png, image/*" }
                          meta: { contentType: "application/vnd.a+json, application/json" }
                          note: { contentType: text/* }
            """
        )
        #expect(result.code.contains("/// A picture. Its media type is `image/png` or `image/*`."), "\(result.code)")
        #expect(result.code.contains("form.add(\"file\", file)\n"))
        #expect(result.code.contains("form.add(json: \"meta\", meta, as: \"application/vnd.a+json\")"))
        #expect(result.code.contains("form.add(text: \"note\", note)\n"))
        let encoding = "a.yaml#/paths/~1a/post/requestBody/content/multipart~1form-data/encoding"
        #expect(
            result.warnings.map(\.pointer) == [
                encoding + "/meta/contentType", encoding + "/note/contentType", "a.yaml#",
            ]
        )
    }

    /// The generated code for a multipart form with these members, and the warnings.
    private func form(_ properties: String, _ more: String = "") throws -> Generator.Result {
        try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    required: true
                    content:
                      multipart/form-data:
                        schema: { type: object, properties: { \(properties) } }
                        \(more)
            """
        )
    }

    @Test func aFileAmongAlternativesIsAFileInAForm() throws {
        let code = try form(
            """
            f: { anyOf: [{ type: string, format: binary }, { type: array, items: { type: string, format: binary } }] },
            g: { oneOf: [{ type: string, enum: [auto] }, { type: object, required: [b], properties: { b: { type: integer } } }] },
            h: { type: array, items: { oneOf: [{ type: string, format: binary }, { type: integer }] } }
            """
        ).code
        #expect(code.contains("form.add(\"f\", f)\n"), "\(code)")
        #expect(code.contains("enum F: FormValue {\n        case file(FormFile)\n        case files([FormFile])"))
        #expect(code.contains("case .files(let value): form.add(name, value, as: mediaType)"))
        #expect(code.contains("form.add(\"g\", g)\n"))
        #expect(code.contains("case .option1(let value): form.add(text: name, value, as: mediaType)"))
        #expect(code.contains("case .option2(let value): form.add(json: name, value, as: mediaType)"))
        #expect(code.contains("var h: [HItem]?"))
        // A part that is not a file does not have the file's media type.
        #expect(code.contains("case .integer(let value): form.add(text: name, value)\n"))
    }

    @Test func alternativesWithFilesAreTextInJSONAndFilesInAForm() throws {
        let code = try generated(
            """
            components:
              schemas:
                F: { type: object, properties: { p: { anyOf: [{ type: string, format: binary }, { type: array, items: { type: string, format: binary } }] } } }
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    content:
                      application/json: { schema: { $ref: "#/components/schemas/F" } }
                      multipart/form-data: { schema: { $ref: "#/components/schemas/F" } }
            """
        ).code
        #expect(code.contains("    enum P: RequestModel {\n        case file(String)"), "\(code)")
        #expect(code.contains("    enum P: FormValue {\n        case file(FormFile)"))
        #expect(code.contains("struct AForm: Sendable {\n    var p: P?"))
    }

    @Test func aFormWhoseSchemaIsAlsoJSONKeepsTheThreeStatesOfJSON() throws {
        let code = try generated(
            """
            components:
              schemas: { F: { type: object, required: [a], properties: { a: { type: [string, "null"] } } } }
            paths:
              /a:
                post:
                  operationId: a
                  requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/F" } } } }
                put:
                  operationId: b
                  requestBody: { required: true, content: { multipart/form-data: { schema: { $ref: "#/components/schemas/F" } } } }
            """
        ).code
        #expect(code.contains("struct F: RequestModel {\n    var a: Nullable<String>\n"), "\(code)")
        #expect(code.contains("struct BForm: Sendable {\n    var a: String?\n"))
    }

    @Test func aPartThatIsNeitherTextNorJSONIsWrittenByTheCaller() throws {
        let result = try form(
            """
            a: { type: object, properties: { b: { type: string } } }, c: { type: object }, d: {}, e: { type: string },
            f: { type: array, items: { type: object, properties: { b: { type: string } } } }
            """,
            """
            encoding:
              a: { contentType: application/xml }
              c: { contentType: application/x-thing }
              d: { contentType: application/octet-stream }
              e: { contentType: text/csv }
              f: { contentType: application/xml }
            """.replacing("\n", with: "\n" + String(repeating: " ", count: 12))
        )
        let code = result.code
        #expect(code.contains("form.add(\"a\", a, as: \"application/xml\")"), "\(code)")
        #expect(code.contains("var a: FormFile?"))
        #expect(code.contains("var c: FormFile?"))
        #expect(code.contains("var d: FormFile?"))
        #expect(code.contains("form.add(text: \"e\", e, as: \"text/csv\")"))
        #expect(code.contains("var f: [FormFile]?"))
        let encoding = "a.yaml#/paths/~1a/post/requestBody/content/multipart~1form-data/encoding"
        #expect(
            result.warnings.map(\.pointer) == ["a", "c", "f"].map { "\(encoding)/\($0)/contentType" } + ["a.yaml#"]
        )
    }

    @Test func furtherMembersOfAFormAreParts() throws {
        let code = try form("a: { type: string } }, additionalProperties: { type: integer, format: int32").code
        #expect(code.contains("var additionalProperties: [String: Int32] = [:]"), "\(code)")
        #expect(code.contains("for (name, value) in additionalProperties.sorted(by: { $0.key < $1.key }) {"))
        #expect(code.contains("form.add(text: name, value)"))
        let files = try form("a: { type: string } }, additionalProperties: { type: string, format: binary").code
        #expect(files.contains("var additionalProperties: [String: FormFile] = [:]"), "\(files)")
        #expect(files.contains("form.add(name, value)"))
    }

    @Test func anArrayInAFormHasAPartForEachElement() throws {
        let code = try form(
            """
            a: { type: array, items: { type: object, properties: { b: { type: string } } } },
            c: { type: array, items: { type: array, items: { type: string } } }, d: { type: array, items: { type: string } },
            e: { type: array, items: { type: string, format: date-time } }
            """
        ).code
        #expect(code.contains("form.add(jsonElements: \"a\", a)"), "\(code)")
        #expect(code.contains("form.add(jsonElements: \"c\", c)"))
        #expect(code.contains("form.add(text: \"d\", d)"))
        #expect(code.contains("form.add(text: \"e\", e)"))
    }

    @Test func datesInAParameterWithoutNamedMembersAreDates() throws {
        let code = try generated(
            """
            paths:
              /a:
                get:
                  operationId: a
                  parameters:
                    - { name: p, in: query, schema: { type: object, additionalProperties: { type: string, format: date-time } } }
            """
        ).code
        #expect(code.contains("static func a(p: [String: Date]? = nil)"), "\(code)")
    }

    @Test func aKeyInACookieIsACookie() throws {
        let code = try generated(
            """
            components: { securitySchemes: { sid: { type: apiKey, in: cookie, name: s } } }
            security: [{ sid: [] }]
            paths: {}
            """
        ).code
        #expect(code.contains("Self(sid: .fixed(.apiKey(key, inCookie: \"s\")))"), "\(code)")
    }

    @Test func anInlineTypeInAComponentHasTheComponentsName() throws {
        func code(_ paths: String) throws -> String {
            try generated(
                """
                components:
                  parameters:
                    direction: { name: dir, in: query, schema: { type: string, enum: [asc, desc] } }
                  responses:
                    refused: { content: { application/json: { schema: { type: object, required: [r], properties: { r: { type: string } } } } } }
                    listResponse: { content: { application/json: { schema: { type: object, properties: { l: { type: string } } } } } }
                  requestBodies:
                    upload:
                      required: true
                      content:
                        multipart/form-data:
                          schema: { type: object, properties: { f: { type: string, format: binary } } }
                          encoding: { f: { contentType: "image/png, image/jpeg" } }
                paths:
                \(paths)
                """
            ).code
        }
        func path(_ name: String) -> String {
            """
              /\(name):
                put:
                  operationId: \(name)
                  tags: [\(name)]
                  parameters: [{ $ref: "#/components/parameters/direction" }]
                  requestBody: { $ref: "#/components/requestBodies/upload" }
                  responses: { 200: { $ref: "#/components/responses/listResponse" }, 400: { $ref: "#/components/responses/refused" } }

            """
        }
        let both = try code(path("b") + path("a"))
        let text = "static func a(form: UploadForm, dir: Direction? = nil) -> ApiCall<Router, ListResponse> {"
        #expect(both.contains(text), "\(both)")
        #expect(both.contains("BareEnvelope<RefusedFailure>"))
        #expect(both.components(separatedBy: "Its media type is").count == 2)
        for declaration in [
            "struct Direction: OpenEnum {", "struct UploadForm: Sendable {", "struct ListResponse: ResponseModel {",
        ] {
            #expect(both.contains(declaration))
            #expect(try code(path("a")).contains(declaration))
        }
    }

    @Test func nullThatCannotBeSentIsWarnedOf() throws {
        let result = try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  parameters:
                    - { name: p, in: query, required: true, schema: { type: [string, "null"] } }
                    - { name: q, in: query, schema: { type: [string, "null"] } }
                  requestBody:
                    required: true
                    content: { application/json: { schema: { anyOf: [{ type: object, properties: { b: { type: string } } }, { type: "null" }] } } }
            """
        )
        let post = "a.yaml#/paths/~1a/post"
        let wanted = [post + "/parameters/0/schema", post + "/requestBody/content/application~1json/schema", "a.yaml#"]
        #expect(result.warnings.map(\.pointer) == wanted)
    }

    @Test func aSchemaOfXMLIsWarnedOf() throws {
        let result = try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  requestBody: { content: { application/xml: { schema: { type: object, properties: { b: { type: string } } } } } }
                  responses: { 200: { content: { text/xml: { schema: { type: array, items: {} } } } } }
              /b:
                post:
                  operationId: b
                  requestBody: { content: { application/xml: { schema: { type: string } } } }
            """
        )
        let post = "a.yaml#/paths/~1a/post"
        let wanted = [
            post + "/requestBody/content/application~1xml/schema", post + "/responses/200/content/text~1xml/schema",
            "a.yaml#",
        ]
        #expect(result.warnings.map(\.pointer) == wanted)
    }

    @Test func anErrorWithAnyMembersIsNotToldApartFromOneWithoutRequiredMembers() throws {
        let result = try generated(
            """
            paths:
              /a:
                get:
                  operationId: a
                  responses:
                    200: { content: { application/json: { schema: { type: string } } } }
                    400: { content: { application/json: { schema: { type: object, additionalProperties: { type: string } } } } }
                    500: { content: { application/json: { schema: { type: object, properties: { b: { type: string } } } } } }
            """
        )
        let pointer = "a.yaml#/paths/~1a/get/responses/500/content/application~1json"
        #expect(result.warnings.map(\.pointer) == [pointer, "a.yaml#"])
    }

    @Test func numbersKeepTheirRange() throws {
        let result = try generated(
            """
            paths:
              /a/{id}:
                get:
                  operationId: a
                  parameters:
                    - { name: id, in: path, required: true, schema: { type: integer, format: uint64 } }
                    - { name: ratio, in: query, schema: { type: number, enum: [0.5, 1] } }
            """
        )
        #expect(result.code.contains("static func a(id: UInt64, ratio: Double? = nil)"))
        #expect(result.warnings.map(\.pointer).contains("a.yaml#/paths/~1a~1{id}/get/parameters/1/schema"))
    }

    @Test func membersBesideAReferenceToAPathItemAreMerged() throws {
        let result = try generated(
            """
            components:
              pathItems:
                A:
                  parameters: [{ name: p, in: query, schema: { type: string } }, { name: q, in: query, schema: { type: string } }]
                  get: { operationId: a }
                  put: { operationId: b }
            paths:
              /a:
                $ref: "#/components/pathItems/A"
                parameters: [{ name: p, in: query, schema: { type: integer } }]
                post: { operationId: c }
                put: { operationId: d }
            """
        )
        let code = result.code
        #expect(code.contains("static func a(p: Int? = nil, q: String? = nil)"), "\(code)")
        #expect(code.contains("static func c(p: Int? = nil, q: String? = nil)"))
        #expect(code.contains("static func d("))
        #expect(!code.contains("static func b("))
        #expect(result.warnings.map(\.pointer) == ["a.yaml#/components/pathItems/A/put", "a.yaml#"])
    }

    @Test func aPathItemThatLeadsBackToItselfIsRefused() {
        let error = #expect(throws: DocumentError.self) {
            try generated("paths: { /a: { $ref: '#/paths/~1b', get: {} }, /b: { $ref: '#/paths/~1a' } }")
        }
        #expect(error?.description.contains("leads back to itself") == true)
    }

    @Test(arguments: [
        ("audio/*", ContentKind.binary), ("font/*", .binary), ("image/*", .binary), ("video/*", .binary),
        ("text/*", .text), ("multipart/*", .multipart), ("application/*", .json), ("*/*", .json), ("text/json", .json),
        ("application/vnd.a+json", .json),
    ])
    func onlyARangeThatIncludesJSONIsJSON(_ mediaType: String, _ kind: ContentKind) {
        #expect(ContentKind(mediaType) == kind)
    }

    @Test func aBodyOfARedirectHasAWarning() throws {
        let result = try generated(
            """
            paths:
              /a:
                get:
                  operationId: a
                  responses:
                    200: { content: { application/json: { schema: { type: integer } } } }
                    304: { content: { application/json: { schema: { type: object, properties: { never: {} } } } } }
            """
        )
        #expect(result.sentences.first == "the body of a 304 response is not decoded")
        #expect(
            result.warnings.first?.pointer == "a.yaml#/paths/~1a/get/responses/304/content/application~1json"
        )
        #expect(!result.code.contains("never"))
    }
}
