// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// Tests of reading documents, including invalid and hostile documents.
struct DocumentTests {
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

    /// Ten values, and aliases that multiply them by ten at each of twelve levels.
    private static var bomb: String {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(aliases)]\n"
        }
        return text
    }

    @Test func aYAMLBombIsRefused() {
        #expect(error(Self.bomb, named: "a.yaml")?.contains("more than 100000 values") == true)
    }

    @Test(arguments: [
        "? *b\n: 1", "*b : 1", "[*b]: 1", "k: { ? [*b] : 1 }", "[*b, x]: 1", "?\n  - *b\n: 1", "k: { *b: 1 }",
        "k: {*b}",
        "k: {[*b]}", "k: {{x: *b}}", "k: {x: 1, *b , y: 2}", "k: {!!seq [*b]}", "k: {?[*b]}", "k: [?*b]",
        "k: [?[*b\n]\n: 1]",
        "k:\u{85} ? - *b", "k:\n\u{FEFF}? - *b\n : 1", "z: x, 'y\n? *b\n: 1 # '", "{{{{a: 1}: 1}: 1}: 1}: 1", "[]: 1",
    ])
    func aNameThatIsNoStringIsRefused(_ text: String) {
        let text = "a: &b [x]\n" + text
        #expect(error(text, named: "a.yaml")?.contains("the name of a member is not a string") == true)
    }

    @Test func aliasesAreCopiesOfTheirTargets() throws {
        let text = """
            base: &base {type: string, deep: {a: 1}}
            &number 1: &name key
            uses: [*base, *base, *number, *name]
            *name : 2
            merged: {<<: *base, type: integer}
            about: "**base**: the base, R&D, *emphasis*: yes"
            """
        let root = try read(text, named: "a.yaml")
        #expect(root["uses"]?.elements.map { $0["deep"]?["a"]?.number } == ["1", "1", nil, nil])
        #expect(root["uses"]?.elements[1]["deep"]?["a"]?.pointer == "a.yaml#/uses/1/deep/a")
        #expect(root["uses"]?.elements[2].number == "1")
        #expect(root["uses"]?.elements[3].string == "key")
        #expect(root["key"]?.number == "2")
        #expect(root["merged"]?.members.map(\.key) == ["type", "deep"])
        #expect(root["about"]?.string == "**base**: the base, R&D, *emphasis*: yes")
        #expect(error(text + "\nkey: 3", named: "a.yaml")?.contains("the member \"key\" appears twice") == true)
    }

    @Test(arguments: [
        "", "# nothing", "a: 1\n---\nb: 2", "a: *none", "a: &a [*a]", "<<: 1", "a: \u{0}", "- a\nb: 1", "a: [", "\t- a",
    ])
    func aTextThatIsNotOneDocumentOfYAMLIsRefused(_ text: String) {
        #expect(error(text, named: "a.yaml")?.hasPrefix("a.yaml:") == true)
    }

    @Test(arguments: [
        "a: |\n" + String(repeating: "\n", count: 1_001) + " x", "a:" + String(repeating: " ", count: 1_001) + "x",
        "%TAG !e! tag:example.com,2000:\n---\na: 1", "<<: {a: 1}\n<<: {a: 1}",
    ])
    func whatTakesAVeryLongTimeInYAMLIsRefused(_ text: String) {
        #expect(error(text, named: "a.yaml")?.contains(": the YAML is refused: ") == true)
    }

    @Test func aliasesOfALongTextAreRefused() {
        var limits = DocumentLimits()
        limits.byteCount = 1_000
        let long = String(repeating: "x", count: 400)
        for uses in ["[*a, *a, *a]", "{*a: 1, b: {*a: 1}, c: {*a: 1}}"] {
            let text = "t: &a \(long)\nu: \(uses)"
            #expect(error(text, named: "a.yaml", limits: limits)?.contains("more than 1000 bytes") == true)
        }
        #expect(error("t: &a \(long)\nu: [*a, *a]", named: "a.yaml", limits: limits) == nil)
    }

    @Test func aForbiddenCharacterIsNamedWithItsLine() {
        #expect(error("a: 1\nb: 2\u{1}", named: "a.yaml")?.hasPrefix("a.yaml:2:5: the YAML is not valid: ") == true)
    }

    @Test func aLargeFileIsRefused() {
        var limits = DocumentLimits()
        limits.byteCount = 10
        #expect(error("[1,2,3,4,5,6]", limits: limits) == "a.json: the file has 13 bytes, and the limit is 10")
    }

    @Test(arguments: [
        ("a.json", "[0, 0, 0, 0, 0, 0]"), ("a.json", "[[], [], {}, [[]], 1]"), ("a.yaml", "[0,0,0,0,0,0,0,0]"),
        ("a.yaml", "[[],[],[],[],{},[],[]]"), ("a.yaml", "- 0\n- 0\n- 0\n- 0\n- 0\n- 0"),
        ("a.yaml", "a: 0\nb: 0\nc: 0\nd: 0\ne: 0\nf: 0"), ("a.yaml", "? a\n? b\n? c\n? d\n? e\n? f"),
        ("a.yaml", "a: [0, {b: 0, c: 0}, 0,\n  0]"), ("a.yaml", "m: {a: 0, b: 0, c: 0, d: 0, e: 0}"),
    ])
    func aDocumentOfManySmallValuesIsRefused(_ name: String, _ text: String) {
        var limits = DocumentLimits()
        limits.valueCount = 4
        #expect(error(text, named: name, limits: limits)?.contains("--maximum-values") == true)
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
