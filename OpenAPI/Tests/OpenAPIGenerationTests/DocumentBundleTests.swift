// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of the conversion of a document to one file of JSON.
struct DocumentBundleTests {
    private func converted(_ text: String, named name: String = "a.yaml") throws -> String {
        try DocumentBundle(Data(text.utf8), named: name).json()
    }

    @Test func yamlBecomesJSONInTheSameOrder() throws {
        let yaml = """
            openapi: 3.1.0
            b: [1, 1.50, 007, -2e3, true, ~, "x\\"\\n\\x01"]
            a: {}
            c: []
            """
        #expect(
            try converted(yaml) == """
                {
                  "openapi": "3.1.0",
                  "b": [
                    1,
                    1.50,
                    7,
                    -2e3,
                    true,
                    null,
                    "x\\"\\n\\u0001"
                  ],
                  "a": {},
                  "c": []
                }

                """
        )
    }

    @Test func theOutputReadsAsTheSameDocument() throws {
        let text = ##"{"a":{"$ref":"#/b~1c"},"b/c":[1,"é\u0000"]}"##
        let once = try converted(text, named: "a.json")
        #expect(try converted(once, named: "b.json") == once)
        #expect(once.contains(##""$ref": "#/b~1c""##))
    }

    @Test func otherFilesAreMembersAndReferencesLeadThere() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "schemas"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [
            "api.yaml": """
            pet: {$ref: 'schemas/pet.yaml#/Pet'}
            own: {$ref: '#/pet'}
            name: {example: {$ref: nowhere}}
            """,
            "schemas/pet.yaml": """
            Pet: {owner: {$ref: 'owner.yaml'}, self: {$ref: '#/Pet'}, back: {$ref: '../api.yaml#/own'}}
            """,
            "schemas/owner.yaml": "type: string",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        let json = try DocumentBundle(contentsOf: folder.appending(path: "api.yaml")).json()
        let value = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        func text(_ path: String...) -> String? {
            path.reduce(value as Any?) { ($0 as? [String: Any])?[$1] } as? String
        }
        #expect(text("pet", "$ref") == "#/x-files/schemas~1pet.yaml/Pet")
        #expect(text("own", "$ref") == "#/pet")
        #expect(text("name", "example", "$ref") == "nowhere")
        #expect(text("x-files", "schemas/pet.yaml", "Pet", "owner", "$ref") == "#/x-files/schemas~1owner.yaml")
        #expect(text("x-files", "schemas/pet.yaml", "Pet", "self", "$ref") == "#/x-files/schemas~1pet.yaml/Pet")
        #expect(text("x-files", "schemas/pet.yaml", "Pet", "back", "$ref") == "#/own")
        #expect(text("x-files", "schemas/owner.yaml", "type") == "string")
    }

    @Test func aReferenceToNothingIsAnError() {
        #expect(throws: DocumentError.self) { try converted("a: {$ref: '#/b'}") }
        #expect(throws: DocumentError.self) { try converted("[1]") }
    }

    @Test func referencesToExamplesAndInComponentsWithAnyNameLeadToTheirFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = [
            "api.yaml": """
            paths:
              /a:
                get:
                  parameters: [{ name: p, in: query, examples: { one: { $ref: 'b.yaml#/one' } } }]
                  responses:
                    default: { content: { a/b: { examples: { two: { $ref: 'b.yaml#/one' }, own: { value: { $ref: x } } } } } }
            components:
              schemas:
                default: { items: { $ref: b.yaml }, default: { $ref: x }, examples: [{ $ref: x }], enum: [{ $ref: x }] }
                example: { properties: { const: { $ref: b.yaml }, properties: { const: { $ref: x } } } }
              headers: { enum: { schema: { $ref: b.yaml } } }
              parameters: { const: { schema: { $ref: b.yaml } } }
              examples: { default: { $ref: 'b.yaml#/one' } }
            """,
            "b.yaml": "one: { value: { $ref: x } }",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        let json = try DocumentBundle(contentsOf: folder.appending(path: "api.yaml")).json()
        let references = json.matches(of: /"\$ref": "(.*)"/).map { String($0.output.1) }
        let one = "#/x-files/b.yaml/one"
        let file = "#/x-files/b.yaml"
        #expect(references == [one, one, "x", file, "x", "x", "x", file, "x", file, file, one, "x"])
    }

    @Test func membersReplaceAReferenceToThem() throws {
        let yaml = """
            a: { properties: { $ref: '#/members' }, required: [b] }
            members: { b: { $ref: '#/a' }, c: { properties: { $ref: '#/members' } } }
            d: { properties: { $ref: { type: string } } }
            """
        let json = try converted(yaml)
        let value = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        func text(_ path: String...) -> String? {
            path.reduce(value as Any?) { ($0 as? [String: Any])?[$1] } as? String
        }
        #expect(text("a", "properties", "b", "$ref") == "#/a")
        // Members that contain themselves stay a reference.
        #expect(text("a", "properties", "c", "properties", "$ref") == "#/members")
        #expect(text("d", "properties", "$ref", "type") == "string")
    }

    @Test func membersThatDoubleAtEachLevelAreRefused() throws {
        let levels = (0..<40).map { level in
            let next = "{ properties: { $ref: '#/p\(level + 1)' } }"
            return "p\(level): { a: \(next), b: \(next) }"
        }
        let yaml = "a: { properties: { $ref: '#/p0' } }\n" + levels.joined(separator: "\n") + "\np40: {}\n"
        let error = #expect(throws: DocumentError.self) { try converted(yaml) }
        #expect(error?.description.contains("too many references replace members") == true)
    }

    @Test func aReferenceInAnExtensionLeadsToItsFileIfThereIsOne() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let yaml = "x-a: { b: [{ $ref: c.yaml }], d: { $ref: nowhere.yaml } }\n"
        try Data(yaml.utf8).write(to: folder.appending(path: "api.yaml"))
        try Data("type: string\n".utf8).write(to: folder.appending(path: "c.yaml"))
        let json = try DocumentBundle(contentsOf: folder.appending(path: "api.yaml")).json()
        #expect(json.contains(##""$ref": "#/x-files/c.yaml""##))
        #expect(json.contains(#""$ref": "nowhere.yaml""#))
    }
}
