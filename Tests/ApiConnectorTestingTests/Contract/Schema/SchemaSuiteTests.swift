// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorContracts
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// The folder with the cases; nil where none is named.
private let suiteFolder = ProcessInfo.processInfo.environment["APICONNECTOR_SCHEMA_SUITE"].map {
    URL(filePath: $0, directoryHint: .isDirectory)
}

/// Runs the official JSON Schema test suite, draft 2020-12.
///
/// `Scripts/schema-suite` names the folder. The cases are not part of the repository.
@Suite(.enabled(if: suiteFolder != nil, "Scripts/schema-suite FOLDER runs it"))
struct SchemaSuiteTests {}

extension SchemaSuiteTests {
    /// Files of keywords that are not supported, and groups that need one of these, by the beginning of their names.
    static let unsupported: [String: [String]] = [
        "dynamicRef.json": [""],
        "refRemote.json": [""],
        "vocabulary.json": [""],
        "id.json": [""],
        // `$id` changes what a reference is relative to.
        "anchor.json": ["Location-independent identifier with", "same $anchor with different base uri"],
        "ref.json": [
            "$id must be resolved", "Recursive references between schemas", "URN base URI with URN and",
            "URN ref with nested pointer ref", "order of evaluation:", "ref to else", "ref to if", "ref to then",
            "ref with absolute-path-reference", "refs with relative uris and defs",
            "relative refs with absolute uris and defs", "simple URN base URI with $ref via the URN",
            "remote ref, containing refs itself",
        ],
        // The schema is the meta-schema, another document.
        "defs.json": [""],
        "unevaluatedItems.json": ["unevaluatedItems with $dynamicRef"],
        "unevaluatedProperties.json": ["unevaluatedProperties with $dynamicRef"],
    ]

    private struct Group: Decodable {
        struct Case: Decodable {
            let description: String
            let data: JSONValue
            let valid: Bool
        }

        let description: String
        let schema: JSONValue
        let tests: [Case]
    }

    @Test func theSuiteAgreesOnEachSupportedKeyword() throws {
        let folder = try #require(suiteFolder)
        var (count, excluded) = (0, 0)
        var table = ""
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.path < $1.path }
        let formats = ["date-time", "date", "uuid", "ipv4"].map { folder.appending(path: "optional/format/\($0).json") }
        for file in files + formats {
            let groups = try JSONDecoder().decode([Group].self, from: try Data(contentsOf: file))
            let name = file.lastPathComponent
            let checker = SchemaChecker(checksFormats: file.path.contains("/format/"))
            var (passed, left) = (0, 0)
            for group in groups {
                guard Self.unsupported[name]?.contains(where: group.description.hasPrefix) != true else {
                    left += group.tests.count
                    continue
                }
                let schema = JSONDocument(group.schema).rootNode
                for test in group.tests {
                    let isAccepted = checker.accepts(test.data, schema)
                    #expect(isAccepted == test.valid, "\(name), \(group.description): \(test.description)")
                    if isAccepted == test.valid { passed += 1 }
                }
            }
            table += "\(name): \(passed) agreed, \(left) excluded\n"
            count += passed
            excluded += left
        }
        print(table + "JSON Schema test suite: \(count) cases agreed, \(excluded) excluded")
        #expect(count > 1_000)
    }
}
