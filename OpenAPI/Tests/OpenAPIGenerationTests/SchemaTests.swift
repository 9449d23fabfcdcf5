// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of the types of combined schemas, and of the warnings.
struct SchemaTests {
    @Test func aLoneReferenceInAllOfIsTheTypeThatItNames() throws {
        let schemas = """
            A: { type: object, properties: { b: { allOf: [{ $ref: "#/components/schemas/B" }], description: One. } } }
            B: { type: object, properties: { c: { type: string } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("    var b: B?"))
        #expect(!code.contains("struct BValue"))
    }

    @Test func nullBelongsToAllOfWhereEachPartAllowsIt() throws {
        let schemas = """
            A: { type: object, required: [x, y], properties: { x: { $ref: "#/components/schemas/X" }, y: { $ref: "#/components/schemas/Y" } } }
            N: { type: [object, "null"], properties: { n: { type: string } } }
            X: { allOf: [{ $ref: "#/components/schemas/N" }, { type: object, properties: { a: { type: string } } }] }
            Y: { allOf: [{ $ref: "#/components/schemas/N" }, { properties: { a: { type: string } } }] }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("    var x: X\n"))
        #expect(code.contains("    var y: Y?"))
    }

    @Test func aMemberStaysReadOnlyWhereAnotherPartGivesItsType() throws {
        let result = try generated(
            """
            paths:
              /a:
                post:
                  operationId: a
                  requestBody:
                    content:
                      application/json:
                        schema:
                          allOf:
                            - { type: object, properties: { id: { type: string, readOnly: true }, b: { type: string } } }
                            - { type: object, properties: { id: { type: string, maxLength: 3 } } }
            """
        )
        #expect(result.code.contains("    var b: String?"))
        #expect(!result.code.contains("var id"))
    }

    @Test func requiredBesideAlternativesIsKept() throws {
        let schemas = """
            A: { required: [z], oneOf: [{ $ref: "#/components/schemas/B" }, { $ref: "#/components/schemas/C" }] }
            B: { type: object, required: [b], properties: { b: { type: string }, z: { type: string } } }
            C: { type: object, required: [c], properties: { c: { type: string } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("        var z: String\n"))
        #expect(code.contains("        var z: JSONValue\n"))
    }

    @Test func keywordsBesideAReferenceAndASecondListOfAlternativesAreWarnedOf() throws {
        let schemas = """
            A: { type: object, properties: { b: { $ref: "#/components/schemas/B", required: [x], description: fine } } }
            B: { oneOf: [{ type: string }, { type: integer }], anyOf: [{ type: string }] }
            """
        let result = try generated(document(schemas: schemas))
        #expect(
            result.warnings.map(\.pointer) == [
                "a.yaml#/components/schemas/A/properties/b/required", "a.yaml#/components/schemas/B/anyOf",
                "a.yaml#",
            ]
        )
    }

    @Test func anEnumsTypeChoosesItsRawValueAndSignsAreKept() throws {
        let schemas = """
            A: { type: object, properties: { t: { type: string, enum: [1, 2] }, n: { type: integer, enum: [-1, 1] } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("static let value1 = Self(\"1\")"), "\(code)")
        #expect(code.contains("static let valueMinus1 = Self(-1)"))
        #expect(code.contains("static let value1 = Self(1)"))
    }

    @Test func theMappingCountsBeforeTheValuesThatSchemasList() throws {
        let schemas = """
            A:
              oneOf: [{ $ref: "#/components/schemas/B" }, { $ref: "#/components/schemas/C" }]
              discriminator: { propertyName: t, mapping: { x: "#/components/schemas/C", y: B } }
            B: { type: object, required: [t], properties: { t: { enum: [x, y] } } }
            C: { type: object, required: [t], properties: { t: { type: string } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("case \"y\": self = .b(try B(from: decoder))"), "\(code)")
        #expect(code.contains("case \"x\": self = .c(try C(from: decoder))"))
    }

    @Test func anAlternativeDoesNotTakeAValueWhoseMembersItWouldLose() throws {
        let schemas = """
            A: { oneOf: [{ $ref: "#/components/schemas/B" }, { $ref: "#/components/schemas/C" }, { $ref: "#/components/schemas/D" }] }
            B: { type: object, required: [x, y], properties: { x: { type: integer }, y: { type: integer } } }
            C: { type: object, required: [x], properties: { x: { type: integer } } }
            D: { type: object, properties: { x: { type: string } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("if decoder.hasMembers(\"x\", \"y\"), let value = try? B(from: decoder) {"), "\(code)")
        #expect(
            code.contains(
                "} else if decoder.hasMembers(\"x\"), !decoder.hasMembers(\"y\"), let value = try? C(from: decoder) {"
            )
        )
        // It has a property for `x`, so it does not lose it.
        #expect(code.contains("} else if !decoder.hasMembers(\"y\"), let value = try? D(from: decoder) {"))
    }

    @Test func aTagThatTellsNothingApartIsWarnedOfAndKeptAsJSON() throws {
        let schemas = """
            A:
              oneOf: [{ $ref: "#/components/schemas/B" }, { $ref: "#/components/schemas/C" }, { $ref: "#/components/schemas/D" }]
              discriminator: { propertyName: t, defaultMapping: D }
            B: { type: object, required: [t], properties: { t: { const: x }, b: { type: string } } }
            C: { type: object, required: [t], properties: { t: { const: x }, c: { type: string } } }
            D: { type: object, required: [t], properties: { t: { const: d } } }
            """
        let result = try generated(document(schemas: schemas))
        #expect(result.warnings.first?.pointer == "a.yaml#/components/schemas/A/discriminator")
        #expect(result.sentences.first?.contains("the tag \"x\"") == true)
        #expect(result.code.contains("default: self = .d(try D(from: decoder))"), "\(result.code)")
    }

    @Test func anEnumOfUnquotedBooleansHasTheTypeOfTheSchema() throws {
        let schemas = """
            A: { type: object, properties: { t: { type: string, enum: [true, false] }, b: { type: boolean, enum: [true] }, n: { enum: [false] } } }
            """
        let code = try generated(document(schemas: schemas)).code
        #expect(code.contains("var t: T?"), "\(code)")
        #expect(code.contains("static let `true` = Self(\"true\")"))
        #expect(code.contains("var b: Bool?"))
        #expect(code.contains("var n: Bool?"))
    }

    @Test func nullIsAValueOfAnOptionalMemberOfAnyType() throws {
        let code = try generated(document(schemas: "A: { type: object, properties: { any: {}, b: { type: string } } }"))
            .code
        #expect(
            code.contains(
                """
                        if object.contains(.any) {
                            any = try object.decode(JSONValue.self, forKey: .any)
                        }
                        b = try object.decodeIfPresent(String.self, forKey: .b)
                """
            ),
            "\(code)"
        )
        #expect(code.contains("init(any: JSONValue? = nil, b: String? = nil) {"))
        #expect(code.contains("case any, b\n"))
    }

    @Test func heirsInOtherFilesAreAlternativesOfTheirBase() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let base = """
            openapi: 3.1.0
            components: { schemas: { Pet: { $ref: pet.yaml }, Cat: { $ref: cat.yaml }, Dog: { $ref: dogs.yaml#/hound } } }
            paths: { /a: { get: { responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } } } } } }
            """
        let files = [
            "a.yaml": base,
            "pet.yaml": """
            discriminator: { propertyName: t }
            required: [t]
            properties: { t: { type: string } }
            """,
            "cat.yaml": "allOf: [{ $ref: pet.yaml }, { type: object, properties: { lives: { type: integer } } }]",
            "dogs.yaml":
                "hound: { allOf: [{ $ref: pet.yaml }, { type: object, properties: { tricks: { type: integer } } }] }",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(component: name)) }
        let code = try Generator(contentsOf: folder.appending(component: "a.yaml")).generate().code
        // The types and the values of the tag have the names of the components, not of the files.
        #expect(code.contains("case \"Cat\": self = .cat(try Cat(from: decoder))"), "\(code)")
        #expect(code.contains("case \"Dog\": self = .hound(try Dog(from: decoder))"))
    }
}
