// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of schemas that could make the generator run forever or crash, or produce code that does not compile.
struct HostileSchemaTests {
    @Test func diamondsOfAllOfAreReadOnce() throws {
        let levels = (0..<40).map { level in
            let next = "{ $ref: '#/components/schemas/S\(level + 1)' }"
            return "S\(level): { allOf: [\(next), \(next), { properties: { p\(level): { type: string } } }] }"
        }
        let schemas = levels.joined(separator: "\n") + "\nS40: { type: object, properties: { end: { type: string } } }"
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("struct S0: ResponseModel {"))
        #expect(code.contains("    var p39: String?"))
    }

    @Test func aLongChainOfReferencesIsRefused() {
        let links = (0..<20_000).map {
            "S\($0): { type: object, properties: { n: { $ref: '#/components/schemas/S\($0 + 1)' } } }"
        }
        let schemas = links.joined(separator: "\n") + "\nS20000: { type: string }"
        let error = #expect(throws: DocumentError.self) { try generated(document(schemas: schemas)) }
        #expect(error?.description.contains("more than 4000 levels deep") == true, "\(error?.description ?? "")")
    }

    @Test func aChainOf3000SchemasIsGenerated() throws {
        let links = (0..<3_000).map {
            "S\($0): { type: object, properties: { n: { $ref: '#/components/schemas/S\($0 + 1)' } } }"
        }
        let schemas = links.joined(separator: "\n") + "\nS3000: { type: string }"
        #expect(try generated(document(schemas: schemas)).code.contains("struct S2999: "))
    }

    @Test func aLongChainOfAllOfIsRefused() {
        let links = (0..<1_000).map {
            "S\($0): { allOf: [{ $ref: '#/components/schemas/S\($0 + 1)' }, { properties: { p\($0): {} } }] }"
        }
        let schemas = links.joined(separator: "\n") + "\nS1000: { type: object, properties: { a: {} } }"
        let error = #expect(throws: DocumentError.self) { try generated(document(schemas: schemas)) }
        #expect(error?.description.contains("more than 200 levels deep") == true, "\(error?.description ?? "")")
    }

    @Test func aLongChainOfReferencesAloneIsRefused() {
        let links = (0..<200).map { "S\($0): { $ref: '#/components/schemas/S\($0 + 1)' }" }
        let schemas = links.joined(separator: "\n") + "\nS200: { type: string }"
        let error = #expect(throws: DocumentError.self) { try generated(document(schemas: schemas)) }
        #expect(error?.description.contains("more than 100 others") == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        "A: { anyOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] }",
        "A: { anyOf: [{ $ref: '#/components/schemas/B' }, { type: 'null' }] }\nB: { allOf: [{ $ref: '#/components/schemas/A' }] }",
    ])
    func aSchemaThatIsNothingButItselfIsRefused(_ schemas: String) {
        let error = #expect(throws: DocumentError.self) { try generated(document(schemas: schemas)) }
        #expect(
            error?.description.hasPrefix("a.yaml#/components/schemas/A (line") == true,
            "\(error?.description ?? "")"
        )
        #expect(error?.description.contains("refers only to itself") == true)
    }

    @Test func anAlternativeThatIsItsOwnListOfAlternativesIsRefused() {
        let schemas = """
            A: { oneOf: [{ $ref: "#/components/schemas/B" }, { type: string }] }
            B: { oneOf: [{ $ref: "#/components/schemas/A" }, { type: integer }] }
            """
        let error = #expect(throws: DocumentError.self) { try generated(document(schemas: schemas)) }
        #expect(error?.description.contains("an alternative of itself") == true, "\(error?.description ?? "")")
    }

    @Test func typesThatContainEachOtherAreStoredOutOfLine() throws {
        let schemas = """
            A: { type: object, required: [b], properties: { b: { $ref: "#/components/schemas/B" } } }
            B: { type: object, properties: { a: { $ref: "#/components/schemas/A" }, u: { $ref: "#/components/schemas/U" } } }
            U: { oneOf: [{ $ref: "#/components/schemas/A" }, { type: string }] }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("indirect enum U: ResponseModel {"))
        #expect(code.components(separatedBy: ": Indirect<").count == 2, "\(code)")
    }

    @Test func manyEqualNamesAndReferencesToAnchorsTakeLittleTime() throws {
        let parameters = (0..<3_000).map {
            "{ name: 'a\(String(repeating: "-", count: $0 % 50))', in: \($0 < 50 ? "query" : "header"), schema: { $ref: '#x' } }"
        }
        let result = try generated(
            """
            components: { schemas: { X: { $anchor: x, type: string } } }
            paths: { /a: { get: { operationId: a, parameters: [\(parameters.joined(separator: ", "))] } } }
            """
        )
        #expect(result.code.contains("a50: String? = nil"))
    }

    @Test func namesThatDifferInCaseOnlyShareAFileOrHaveTwoNames() throws {
        let names = ["AppS", "Apps", "APPs", "App", "Bar"]
        let schemas = names.map { "\($0)Model: { type: object, properties: { a: { type: string } } }" }
        let responses = names.map {
            "/\($0): { get: { tags: [\($0)], operationId: x\($0), responses: { 200: { content: { application/json: { schema: { $ref: '#/components/schemas/\($0)Model' } } } } } } }"
        }
        let yaml =
            "components:\n  schemas:\n    \(schemas.joined(separator: "\n    "))\npaths:\n  \(responses.joined(separator: "\n  "))"
        let result = try generated(yaml) { $0.maximumLineCount = 16 }
        let files = result.files.map { $0.name.lowercased() }
        #expect(Set(files).count == files.count, "\(files)")
        #expect(files.filter { $0.hasPrefix("routers/") && !$0.contains("+") }.count == 5)
    }

    @Test func controlCharactersOfADocumentDoNotReachTheTerminal() throws {
        let result = try generated("paths: { \"/a\\u001b[31m\": { get: { operationId: a, oops: 1 } } }")
        #expect(result.warnings.first?.description.contains("/~1a\\u{1b}[31m/get/oops") == true)
        let error = #expect(throws: DocumentError.self) { try generated("paths: { \"/\\u001b\": { get: 1 } }") }
        #expect(error?.description.unicodeScalars.contains("\u{1B}") == false)
    }

    @Test func aLiteralThatStartsWithACombiningMarkKeepsIt() throws {
        let code = try generated("paths: { \"/{a}\u{301}x\": { get: { operationId: a } } }").code
        #expect(code.unicodeScalars.contains("\u{301}"))
    }
}
