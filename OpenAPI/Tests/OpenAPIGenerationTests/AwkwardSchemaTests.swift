// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import OpenAPIGeneration

/// Tests of schemas that real documents have, and that are easy to generate wrong code for.
struct AwkwardSchemaTests {
    @Test func alternativesThatNothingDistinguishesAreKeptAsJSON() throws {
        let result = try generated(
            document(
                schemas: """
                    A:
                      oneOf:
                        - { type: object, properties: { kind: { type: string }, a: { type: string } } }
                        - { type: object, properties: { kind: { type: string }, b: { type: string } } }
                      discriminator: { propertyName: kind }
                    """
            )
        )
        #expect(!result.code.contains("throws {\n        } else {"))
        #expect(
            result.sentences.contains(
                "the alternatives with the tag \"A\" cannot be told apart; their values become `other`, as JSON"
            )
        )
        #expect(result.code.contains("case other(JSONValue)"))
    }

    @Test func anObjectCanBeOneOfSeveralTypes() throws {
        let code = try generated(
            document(schemas: "A: { type: [string, object], properties: { z: { type: integer } } }")
        ).code
        #expect(code.contains("case string(String)\n    case object(Object)"))
        #expect(code.contains("    struct Object: ResponseModel {\n        var z: Int?"))
    }

    /// JSON's coders have their own formats for these types, but only for values that they read or write themselves.
    @Test func aURLOrADecimalOrBytesInAlternativesHaveTheCodersFormat() throws {
        let yaml = document(
            schemas: """
                A: { oneOf: [{ type: string, format: uri }, { type: array, items: { type: string } }] }
                """
        )
        let body = "requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }"
        let code = try generated(yaml.replacing("operationId: a", with: "operationId: a\n      \(body)")).code
        #expect(code.contains("if let value = try? decoder.singleValueContainer().decode(URL.self) {"))
        #expect(
            code.contains(
                "case .url(let value):\n            var container = encoder.singleValueContainer()\n"
                    + "            try container.encode(value)"
            )
        )
    }

    @Test func alternativesThatAcceptEveryValueAreTriedLast() throws {
        let code = try generated(
            document(
                schemas: """
                    A: { oneOf: [{ $ref: "#/components/schemas/B" }, { type: array, items: { $ref: "#/components/schemas/B" } }] }
                    B: { oneOf: [{ type: string }, { type: integer }], discriminator: { propertyName: x } }
                    """
            )
        ).code
        let list = try #require(code.firstRange(of: "try? [B](from: decoder)"))
        let single = try #require(code.firstRange(of: "try? B(from: decoder)"))
        #expect(list.lowerBound < single.lowerBound)
    }

    @Test func aDecimalTextIsTriedAfterNumbers() throws {
        let code = try generated(
            document(schemas: "A: { oneOf: [{ type: string, format: decimal }, { type: integer }] }")
        ).code
        let text = try #require(code.firstRange(of: "try? DecimalText(from: decoder)"))
        let number = try #require(code.firstRange(of: "try? Int(from: decoder)"))
        #expect(number.lowerBound < text.lowerBound)
    }

    @Test func aTypeOfAWriteOnlyMemberIsNotUsedWhereItIsNotGenerated() throws {
        let code = try generated(
            document(
                schemas: """
                    A: { properties: { a: { type: string }, b: { writeOnly: true, properties: { c: { type: string } } } } }
                    """
            )
        ) { $0.isAlwaysCodable = true }.code
        #expect(code.contains("struct A: ApiModel {\n    var a: String?\n}"))
    }

    @Test func aHierarchyWithOneHeirIsOpen() throws {
        let code = try generated(
            document(
                schemas: """
                    A: { type: object, discriminator: { propertyName: kind }, properties: { kind: { type: string } } }
                    B: { allOf: [{ $ref: "#/components/schemas/A" }, { properties: { b: { type: string } } }] }
                    """
            )
        ).code
        #expect(code.contains("case b(B)\n    case other(JSONValue)"))
    }

    @Test func aTypeHasAnotherNameThanAMemberInAScriptWithoutCase() throws {
        let code = try generated(
            document(schemas: "A: { properties: { 種類: { type: object, properties: { x: { type: string } } } } }")
        ).code
        #expect(code.contains("var 種類: 種類Value?") || code.contains("var 種類: 種類2?"))
    }

    @Test func aComponentWithTheNameOfARoutersTypealiasIsRenamed() throws {
        let code = try generated(document(schemas: "BodyType: { properties: { a: { type: string } } }")).code
        #expect(!code.contains("struct BodyType:"))
    }

    @Test(arguments: ["content", "items", "oneOf", "7"]) func aTagIsTheNameOfItsComponent(_ name: String) throws {
        let code = try generated(
            document(
                schemas: """
                    A:
                      oneOf: [{ $ref: "#/components/schemas/\(name)" }, { $ref: "#/components/schemas/Other" }]
                      discriminator: { propertyName: kind }
                    "\(name)": { required: [kind], properties: { kind: { type: string }, a: { type: string } } }
                    Other: { required: [kind], properties: { kind: { type: string }, b: { type: string } } }
                    """
            )
        ).code
        #expect(code.contains("case \"\(name)\":"))
    }

    @Test func aKeywordWithAValueOfAnotherKindIsIgnoredWithAWarning() throws {
        let schema = "A: { type: object, required: a, properties: { a: { type: string, enum: b, required: true } } }"
        let result = try generated(document(schemas: schema))
        #expect(
            result.sentences.sorted() == [
                "`enum` has to be a list; it is ignored", "`required` has to be a list; it is ignored",
                "`required` has to be a list; it is ignored",
                "the document has no servers; pass the host to the environment",
            ]
        )
        #expect(result.code.contains("var a: String?"))
    }

    @Test func aParameterThatAppearsTwiceHasAWarning() throws {
        let parameter = "{ name: b, in: query, schema: { type: string } }"
        let paths = """
            paths:
              /a:
                parameters: [\(parameter)]
                get:
                  operationId: a
                  parameters: [PARAMETERS]
                  responses: { 204: { description: x } }
            """
        let once = try generated(paths.replacing("PARAMETERS", with: parameter))
        #expect(!once.sentences.contains { $0.contains("twice") })
        let twice = try generated(paths.replacing("PARAMETERS", with: "\(parameter), \(parameter)"))
        #expect(twice.sentences.contains("the parameter \"b\" appears twice; the last one is used"))
    }

    @Test func anyMediaTypeWithAReferenceToBytesGivesARouteForDownloads() throws {
        func code(_ schema: String) throws -> String {
            try generated(document(schemas: "A: { \(schema) }").replacing("application/json", with: "\"*/*\"")).code
        }
        #expect(try code("type: string, format: binary").contains("static func a() -> Self {"))
        #expect(try code("type: string").contains("static func a() -> ApiCall<"))
    }
}
