// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of reading documents, including invalid and hostile documents.
@Suite struct DocumentTests {
    private func read(_ text: String, named name: String = "a.json", limits: DocumentLimits = DocumentLimits())
        throws(DocumentError) -> Node
    {
        try DocumentSet(Data(text.utf8), named: name, limits: limits).root
    }

    private func error(_ text: String, named name: String = "a.json", limits: DocumentLimits = DocumentLimits())
        -> String?
    {
        do {
            _ = try read(text, named: name, limits: limits)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func membersKeepTheirOrderNumbersTheirTextAndNodesTheirPlace() throws {
        let root = try read("{\"b\": 1.50,\n \"a\": [true, null, \"x\\u00e9\\ud83d\\ude00\\n\"]}")
        #expect(root.members.map(\.key) == ["b", "a"])
        #expect(root["b"]?.number == "1.50")
        let text = root["a"]?.elements.last
        #expect(text?.string == "xé😀\n")
        #expect(text?.pointer == "a.json#/a/2")
        #expect(text.map { [$0.line, $0.column] } == [2, 20])
    }

    @Test func aSyntaxErrorNamesLineAndColumn() {
        #expect(error("{\n \"a\" 1}") == "a.json:2:6: the JSON is not valid: ':' is missing after the name of a member")
        #expect(error("{\"a\": 1, \"a\": 2}")?.contains("the member \"a\" appears twice") == true)
        #expect(error("[1,]")?.hasPrefix("a.json:1:4: ") == true)
        #expect(error("a: [1\nb: 2", named: "a.yaml")?.hasPrefix("a.yaml:2:") == true)
        #expect(error("a: 1\na: 2", named: "a.yaml")?.contains("the member \"a\" appears twice") == true)
    }

    @Test(arguments: [
        "", "{", "[", "\"", "\"\\", "\"\\u12", "01", "1.", "1e", "-", "tru", "nulll", "{\"a\"", "{\"a\":", "[1 2]",
        "{} x", "\"\u{1}\"", "\"\\ud800\"", "\"\\u+123\"", "\"\\u-000\"", "\"\\u12 4\"",
    ])
    func aTextThatIsNotJSONIsRefused(_ text: String) {
        #expect(error(text) != nil)
    }

    @Test(arguments: ["a.json", "a.yaml"])
    func deepNestingIsRefused(_ name: String) {
        let text = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(error(text, named: name) != nil)
        let block = String(repeating: "- ", count: 10_000) + "x"
        #expect(error(block, named: "b.yaml") != nil)
    }

    @Test func aYAMLBombIsRefused() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        var limits = DocumentLimits()
        limits.aliasValueCount = 100_000
        #expect(error(text, named: "a.yaml", limits: limits)?.contains("more than 100000 values") == true)
        for key in ["? *a12\n: 1", "*a12 : 1", "[*a12]: 1", "{ ? [*a12] : 1 }"] {
            #expect(error(text + key, named: "a.yaml")?.contains("is an alias") == true, "\(key)")
        }
    }

    @Test func aLargeFileIsRefused() {
        var limits = DocumentLimits()
        limits.byteCount = 10
        #expect(error("[1,2,3,4,5,6]", limits: limits) == "a.json: the file has 13 bytes, and the limit is 10")
    }

    @Test func yamlScalarsAreThoseOfJSON() throws {
        let root = try read("a: yes\nb: true\nc: 1_000\nd: 0x1F\ne: 1.5\nf: '1'\ng: ~\nh: 2026-01-01", named: "a.yaml")
        #expect(root["a"]?.string == "yes")
        #expect(root["b"]?.bool == true)
        #expect(root["c"]?.string == "1_000")
        #expect(root["d"]?.string == "0x1F")
        #expect(root["e"]?.number == "1.5")
        #expect(root["f"]?.string == "1")
        #expect(root["g"]?.isNull == true)
        #expect(root["h"]?.string == "2026-01-01")
    }

    @Test(arguments: [
        "https://example.com/a.json": "not lead to a file in the document's folder", "../a.json": "leads out of",
        "/etc/passwd": "not lead to a file in the document's folder", "b/../../c.json": "leads out of",
        "%2e%2e/a.json": "leads out of", "none.json": "cannot be followed", "#/none": "has no target",
        "#nothing": "no anchor",
    ])
    func aReferenceOutOfTheFolderOrToNothingIsRefused(_ reference: String, _ sentence: String) throws {
        let documents = try DocumentSet(Data("{\"a\": {\"$ref\": \"\(reference)\"}}".utf8), named: "x.json")
        let node = try #require(documents.root["a"])
        let error = #expect(throws: DocumentError.self) { try documents.resolved(node) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("x.json#/a (line 1, column 7)") == true)
    }

    @Test func aCircleOfReferencesIsRefused() throws {
        let text = ##"{"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}"##
        let documents = try DocumentSet(Data(text.utf8), named: "x.json")
        let node = try #require(documents.root["a"])
        let error = #expect(throws: DocumentError.self) { try documents.resolved(node) }
        #expect(error?.description.contains("leads back to itself") == true)
    }

    @Test func otherFilesAreReadFromTheFolder() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(component: "in"),
            withIntermediateDirectories: true
        )
        try Data("a: { $ref: 'in/b.yaml#/b~1c' }".utf8).write(to: folder.appending(component: "a.yaml"))
        try Data("b/c: { $ref: '../c.json' }".utf8).write(to: folder.appending(path: "in/b.yaml"))
        try Data("{\"found\": true}".utf8).write(to: folder.appending(component: "c.json"))
        let documents = try DocumentSet(contentsOf: folder.appending(component: "a.yaml"))
        let node = try #require(documents.root["a"])
        let found = try documents.resolved(node)
        #expect(found["found"]?.bool == true)
        #expect(found.pointer == "c.json#")
    }

    @Test func aLinkOutOfTheFolderIsRefused() throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        let other = folder.deletingLastPathComponent().appending(component: folder.lastPathComponent + "-other")
        defer {
            try? FileManager.default.removeItem(at: folder)
            try? FileManager.default.removeItem(at: other)
        }
        for url in [folder, other] {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        try Data("{}".utf8).write(to: other.appending(component: "b.json"))
        try Data("a: { $ref: link.json }".utf8).write(to: folder.appending(component: "a.yaml"))
        try FileManager.default.createSymbolicLink(
            at: folder.appending(component: "link.json"),
            withDestinationURL: other.appending(component: "b.json")
        )
        let documents = try DocumentSet(contentsOf: folder.appending(component: "a.yaml"))
        let node = try #require(documents.root["a"])
        let error = #expect(throws: DocumentError.self) { try documents.resolved(node) }
        #expect(error?.description.contains("leads out of") == true, "\(error?.description ?? "")")
    }

    @Test func mergeKeysOfYAMLAddMembers() throws {
        let root = try read("a: &a { x: 1, y: 2 }\nb: { <<: *a, y: 3 }\nc: { <<: [*a, { z: 4 }] }", named: "a.yaml")
        #expect(root["b"]?.members.map(\.key) == ["y", "x"])
        #expect(root["b"]?["y"]?.number == "3")
        #expect(root["c"]?.members.map(\.key) == ["x", "y", "z"])
        #expect(error("a: { <<: 1 }", named: "a.yaml")?.contains("`<<` needs") == true)
    }

    @Test func tagsOfYAMLSayWhatAScalarIs() throws {
        let root = try read("a: !!str 1\nb: !!str true\nc: 1", named: "a.yaml")
        #expect(root["a"]?.string == "1")
        #expect(root["b"]?.string == "true")
        #expect(root["c"]?.number == "1")
    }

    @Test func aStarInATextIsNoAlias() throws {
        let rows = (0..<40).map { "k\($0): *a" }.joined(separator: "\n")
        let text = """
            a: &a x
            \(rows)
            # see *a: here
            b: "see *a : here"
            c: |
              *a: a bold word
              * b : c
            d: 'x *a: y'
            """
        #expect(try read(text, named: "a.yaml")["b"]?.string == "see *a : here")
    }
}
