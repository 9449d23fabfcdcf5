// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of the generated code, the errors and the warnings.
struct GeneratorTests {
    private func generate(
        _ yaml: String,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws(DocumentError) -> Generator.Result {
        var configuration = Configuration()
        change(&configuration)
        let text = yaml.hasPrefix("swagger") || yaml.hasPrefix("openapi") ? yaml : "openapi: 3.1.0\n" + yaml
        return try Generator(Data(text.utf8), named: "a.yaml", configuration: configuration).generate()
    }

    private func text(_ result: Generator.Result) -> String {
        result.files.map(\.text).joined()
    }

    @Test func swagger2IsRefusedWithAWayToConvert() {
        let error = #expect(throws: DocumentError.self) { try generate("swagger: '2.0'") }
        #expect(error?.description.contains("convert it") == true)
    }

    @Test(arguments: ["openapi: 4.0.0", "openapi: 2.0", "openapi: '3.0x'", "openapi: {}", "openapi:"])
    func anotherVersionIsRefused(_ text: String) {
        #expect(throws: DocumentError.self) { try generate(text) }
    }

    @Test(arguments: ["3.0.0", "3.0.3", "3.1.1", "3.2.0"])
    func eachVersionIsRead(_ version: String) throws {
        let result = try generate("openapi: \(version)\npaths: { /a: { get: { responses: {} } } }")
        #expect(result.operationCount == 1)
    }

    @Test func theSameDocumentGivesTheSameBytes() throws {
        let first = try generate(Self.names)
        let second = try generate(Self.names)
        #expect(first.files.map(\.text) == second.files.map(\.text))
        #expect(first.files.count == 3)
    }

    @Test func aPartIsTheSameAsInTheWhole() throws {
        let whole = try generate(Self.names)
        let part = try generate(Self.names) { $0.operations = ["b"] }
        #expect(part.operationCount == 1)
        #expect(text(part).contains("static func b("))
        #expect(!text(part).contains("static func a("))
        let models = part.files.first { $0.name.hasPrefix("Models/") }?.text ?? ""
        #expect(models.contains("struct DateModel2: ResponseModel {"))
        #expect(text(whole).contains("struct DateModel2: ResponseModel {"))
        #expect(text(try generate(Self.names) { $0.operations = ["A"] }).contains("static func a2("))
    }

    private static let names = """
        components:
          schemas:
            date: { type: object, properties: { a: { type: string } } }
            Date: { type: object, properties: { b: { type: string } } }
            Route parts: { type: object, properties: { c: { type: string } } }
        paths:
          /a:
            get:
              operationId: a
              responses:
                "200": { content: { application/json: { schema: { $ref: "#/components/schemas/date" } } } }
            post:
              operationId: A
              responses:
                "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Route%20parts" } } } }
          /b:
            get:
              operationId: b
              responses:
                "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Date" } } } }
        """

    @Test func namesNeitherCollideNorShadow() throws {
        let text = text(try generate(Self.names))
        #expect(text.contains("struct DateModel: ResponseModel {"))
        #expect(text.contains("struct DateModel2: ResponseModel {"))
        #expect(text.contains("struct RouteParts2: ResponseModel {"))
        #expect(text.contains("static func a("))
        #expect(text.contains("static func a2("))
    }

    @Test func renamesApplyToFunctionsAndModels() throws {
        let text = text(try generate(Self.names) { $0.renames = ["b": "fetchDay", "Date": "Appointment"] })
        #expect(text.contains("static func fetchDay() -> ApiCall<Router, Appointment> {"))
    }

    @Test func aRouterIsMadeForEachTagOrOneForAll() throws {
        let document = "paths: { /a: { get: { tags: [user things], operationId: listUsers } } }"
        #expect(text(try generate(document)).contains("struct UserThingsRouter: OperationRouter {"))
        let single = try generate(document) { $0.routers = .single }
        #expect(single.files.filter { $0.name.hasPrefix("Routers/") }.map(\.name) == ["Routers/APIRouter.swift"])
    }

    @Test func publicCodeHasInitializersAndComments() throws {
        let text = text(try generate(Self.names) { $0.access = .public })
        #expect(text.contains("public struct DateModel: ResponseModel {"))
        #expect(text.contains("    public init(a: String? = nil) {"))
        #expect(text.contains("public import ApiConnector\n"))
    }

    @Test func eachFileImportsWhatItsPublicDeclarationsUse() throws {
        let files = try generate(Self.names) { $0.access = .public }.files
        let imports = files.map { file in file.text.split(separator: "\n").filter { $0.contains("import ") } }
        #expect(files.map(\.name) == ["APIServer.swift", "Models/Models.swift", "Routers/APIRouter.swift"])
        #expect(
            imports == [
                ["public import ApiConnector"], ["import ApiConnector", "public import ApiConnectorOpenAPI"],
                ["public import ApiConnector", "public import ApiConnectorOpenAPI"],
            ]
        )
    }

    @Test func unsupportedPartsHaveAWarningWithTheirPlace() throws {
        let result = try generate(
            """
            webhooks: { x: {} }
            paths:
              /a/{b}:
                get:
                  operationId: x
                  callbacks: { c: {} }
                  responses:
                    "200":
                      content:
                        application/json:
                          schema: { type: object, not: {}, oops: 1, x-fine: 1, properties: { p: { type: text } } }
                        application/xml: {}
                put: { operationId: x }
            """
        )
        #expect(
            result.warnings.map(\.pointer) == [
                "a.yaml#/webhooks", "a.yaml#/paths/~1a~1{b}/get", "a.yaml#/paths/~1a~1{b}/get/callbacks",
                "a.yaml#/paths/~1a~1{b}/put", "a.yaml#/paths/~1a~1{b}/put",
                "a.yaml#/paths/~1a~1{b}/get/responses/200/content/application~1json/schema/not",
                "a.yaml#/paths/~1a~1{b}/get/responses/200/content/application~1json/schema/oops",
                "a.yaml#/paths/~1a~1{b}/get/responses/200/content/application~1json/schema/properties/p",
                "a.yaml#",
            ]
        )
    }

    @Test(arguments: [
        "paths: { a: {} }": "has to start with a slash",
        "paths: { /a: { get: { parameters: [{ name: x, in: body }] } } }": "cannot be in \"body\"",
        "paths: { /a: { get: { parameters: [{ name: x }] } } }": "needs `name` and `in`",
        "paths: { /a: { get: { responses: { 2000: {} } } } }": "\"2000\" is not a status code",
        "paths: { /a: { get: 1 } }": "an operation has to be an object",
        "paths: { /a: { get: { responses: { 200: { $ref: '#/x' } } } } }": "has no target",
    ])
    func aDocumentThatIsWrongIsRefusedWithItsPlace(_ yaml: String, _ sentence: String) {
        let error = #expect(throws: DocumentError.self) { try generate(yaml) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("a.yaml#/paths/") == true, "\(error?.description ?? "")")
    }

    @Test func anAllOfThatContainsItselfIsRefused() {
        let yaml = """
            components: { schemas: { A: { allOf: [{ $ref: "#/components/schemas/A" }, { type: object }] } } }
            paths: { /a: { get: { responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } } } } } }
            """
        let error = #expect(throws: DocumentError.self) { try generate(yaml) }
        #expect(error?.description.contains("contains itself") == true, "\(error?.description ?? "")")
    }

    @Test func noTextOfADocumentEndsACommentALiteralOrAName() throws {
        let hostile = "x */ \\\" \\u2028 \\n } let evil = 1 // \\\\(evil) \\u202e \\\"\\\"\\\" #"
        let result = try Generator(
            Data(
                """
                {"openapi": "3.1.0", "info": {"title": "\(hostile)"},
                 "servers": [{"url": "https://\(hostile)/", "description": "\(hostile)"}],
                 "tags": [{"name": "\(hostile)", "description": "\(hostile)"}],
                 "components": {
                   "securitySchemes": {"\(hostile)": {"type": "apiKey", "in": "header", "name": "\(hostile)"}},
                   "schemas": {"\(hostile)": {"type": "object", "description": "\(hostile)", "properties": {
                     "\(hostile)": {"type": "string", "enum": ["\(hostile)", "b"], "description": "\(hostile)"}}}}},
                 "paths": {"/\(hostile.replacing("}", with: ""))/{\(hostile.replacing("}", with: ""))}": {"get": {
                   "operationId": "\(hostile)", "tags": ["\(hostile)"], "summary": "\(hostile)",
                   "security": [{"\(hostile)": []}],
                   "parameters": [{"name": "\(hostile)", "in": "query", "description": "\(hostile)", "schema": {}}],
                   "responses": {"200": {"content": {"application/json": {"schema": {"type": "object",
                     "oneOf": [{"type": "object", "title": "\(hostile)", "required": ["\(hostile)"],
                       "properties": {"\(hostile)": {"type": "string"}}}, {"type": "string"}]}}}}}}}}}
                """.utf8
            )
        ).generate()
        let lines = text(result).split(separator: "\n")
        #expect(lines.count > 40)
        for line in lines where line.contains("evil") {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("//") { continue }
            // Outside literals, a line may contain no hostile text except letters in names.
            var rest = ""
            var isInLiteral = false
            var isEscaped = false
            for character in code {
                if isEscaped {
                    isEscaped = false
                } else if isInLiteral, character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isInLiteral.toggle()
                } else if !isInLiteral {
                    rest.append(character)
                }
            }
            #expect(!isInLiteral, "\(line)")
            #expect(!rest.contains("let evil") && !rest.contains("*/") && !rest.contains("#"), "\(line)")
        }
        #expect(!text(result).unicodeScalars.contains("\u{2028}"))
        #expect(!text(result).unicodeScalars.contains("\u{202E}"))
    }
}
