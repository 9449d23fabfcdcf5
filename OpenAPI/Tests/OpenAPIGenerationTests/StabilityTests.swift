// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests that generated code stays the same where the document or the selection does not change it.
struct StabilityTests {
    /// Operations whose names, routers, errors, inline types and models depend on each other.
    private static let document = """
        components:
          schemas:
            Pet:
              type: object
              required: [id]
              properties:
                id: { type: integer, readOnly: true }
                nickname: { type: [string, "null"] }
                kind: { type: string, enum: [cat, dog] }
                owner: { $ref: "#/components/schemas/Owner" }
            Owner: { type: object, properties: { name: { type: string } } }
            Problem: { type: object, required: [title], properties: { title: { type: string } } }
            Refusal: { type: object, required: [code], properties: { code: { type: integer } } }
        paths:
          /a:
            get:
              operationId: pet
              tags: [my pets]
              responses:
                200: { content: { application/json: { schema: { type: object, properties: { a: { type: string } } } } } }
                default: { content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } }
          /b:
            get:
              operationId: Pet
              tags: [my pets]
              responses:
                200: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
                default: { content: { application/json: { schema: { $ref: "#/components/schemas/Refusal" } } } }
            put:
              operationId: PET
              tags: [My_Pets]
              requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
              responses:
                200: { content: { application/json: { schema: { type: object, properties: { a: { type: string } } } } } }
          /c:
            get:
              operationId: pet response
              tags: [my pets]
              responses:
                200: { content: { application/json: { schema: { $ref: "#/components/schemas/Owner" } } } }
        """

    private static let ids = ["pet", "Pet", "PET", "pet response"]

    /// Whether all lines are in another text in the same order.
    private func isSelection(_ lines: [Substring], of others: [Substring]) -> Bool {
        var rest = others[...]
        for line in lines {
            guard let index = rest.firstIndex(of: line) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    @Test(arguments: ids, [false, true])
    func aPartHasOnlyLinesOfTheWhole(_ id: String, _ hasModules: Bool) throws {
        func change(_ configuration: inout Configuration) {
            guard hasModules else {
                // Models and functions are in several files.
                configuration.maximumLineCount = 45
                return
            }
            configuration.access = .package
            configuration.modules = [Configuration.Module(name: "First", tags: ["my pets"])]
        }
        let whole = try generated(Self.document, change)
        let part = try generated(Self.document) { configuration in
            change(&configuration)
            configuration.operations = [id]
        }
        #expect(whole.operationCount == Self.ids.count)
        #expect(part.operationCount == 1)
        #expect(part.code.count < whole.code.count)
        for file in part.files {
            let same = try #require(whole.files.first { $0.name == file.name }, "\(file.name)")
            // Whether an import is public depends on the other lines of the file.
            let own = lines(file.text).filter { !$0.contains("import ") }
            #expect(isSelection(own, of: lines(same.text)), "\(file.text) of \(same.text)")
        }
    }

    @Test func theWarningsOfAPartAreThoseOfItsOperations() throws {
        let yaml = """
            components:
              schemas:
                Same:
                  oneOf:
                    - { type: object, properties: { a: { type: string } } }
                    - { type: object, properties: { b: { type: string } } }
                Odd: { type: object, not: {}, properties: { a: { type: string } } }
            paths:
              /a:
                put:
                  operationId: a
                  requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Same" } } } }
              /b:
                get:
                  operationId: b
                  responses:
                    200: { content: { application/json: { schema: { $ref: "#/components/schemas/Same" } } } }
                    201: { content: { application/json: { schema: { $ref: "#/components/schemas/Odd" } } } }
            """
        // The alternatives of `Same` are received in the whole, and so they are JSON in each part.
        let part = try generated(yaml) { $0.operations = ["a"] }
        #expect(part.code.contains("static func a(body: JSONValue? = nil)"), "\(part.code)")
        #expect(part.warnings.map(\.pointer).contains("a.yaml#/components/schemas/Same"))
        #expect(!part.warnings.map(\.pointer).contains("a.yaml#/components/schemas/Odd/not"))
        #expect(try generated(yaml).warnings.map(\.pointer).contains("a.yaml#/components/schemas/Odd/not"))
    }

    @Test func anotherOperationThatIsRefusedDoesNotPreventAPart() throws {
        let yaml = """
            components: { schemas: { A: { allOf: [{ $ref: "#/components/schemas/A" }, { type: object }] } } }
            paths:
              /a: { get: { operationId: a, responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/A" } } } } } } }
              /b: { get: { operationId: b, responses: { 200: { content: { application/json: { schema: { type: string } } } } } } }
            """
        #expect(throws: DocumentError.self) { try generated(yaml) }
        let part = try generated(yaml) { $0.operations = ["b"] }
        #expect(part.code.contains("static func b() -> ApiCall<Router, String>"))
    }

    /// A document with many operations, each with its own model.
    private func document(_ names: [String], changed: String = "") -> String {
        let models = names.map { name in
            let type = name == changed ? "integer" : "string"
            return "    \(name)Result: { type: object, properties: { a: { type: \(type) } } }"
        }
        let paths = names.map { name in
            """
              /\(name):
                get:
                  operationId: \(name)
                  summary: \(name == changed ? "Changed" : "Gets") \(name)
                  responses:
                    200: { content: { application/json: { schema: { $ref: "#/components/schemas/\(name)Result" } } } }
            """
        }
        return "components:\n  schemas:\n\(models.joined(separator: "\n"))\npaths:\n\(paths.joined(separator: "\n"))\n"
    }

    private static let names = ["list", "get", "add", "remove"].flatMap { verb in
        ["Dogs", "Cats", "Birds", "Fish"].map { verb + $0 }
    }

    /// The maximum number of lines per file: one router file for all operations, and many files.
    private static let lineCounts = [2_000, 60]

    @Test(arguments: lineCounts)
    func aChangeOfAnOperationChangesOnlyItsLines(_ lineCount: Int) throws {
        let old = try generated(document(Self.names)) { $0.maximumLineCount = lineCount }
        let new = try generated(document(Self.names, changed: "addCats")) { $0.maximumLineCount = lineCount }
        #expect(old.files.map(\.name) == new.files.map(\.name))
        var changes: [String] = []
        for (before, after) in zip(old.files, new.files) where before.text != after.text {
            let difference = lines(after.text).difference(from: lines(before.text))
            changes += difference.insertions.map { change in
                if case .insert(_, let line, _) = change { String(line) } else { "" }
            }
        }
        #expect(changes.sorted() == ["    /// Changed addCats.", "    var a: Int?"])
    }

    @Test(arguments: lineCounts)
    func aNewOperationOnlyAddsLines(_ lineCount: Int) throws {
        var names = Self.names
        names.insert("addHorses", at: 5)
        let old = try generated(document(Self.names)) { $0.maximumLineCount = lineCount }
        let new = try generated(document(names)) { $0.maximumLineCount = lineCount }
        #expect(new.files.count >= old.files.count)
        var changedCount = 0
        for before in old.files {
            let after = try #require(new.files.first { $0.name == before.name }, "\(before.name)")
            #expect(isSelection(lines(before.text), of: lines(after.text)), "\(before.name)")
            if before.text != after.text { changedCount += 1 }
        }
        // The files of its router and of its model.
        #expect(changedCount <= 2)
    }
}
