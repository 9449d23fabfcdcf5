// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import OpenAPIGeneration

/// The folder of the library's repository, if the package is in it.
private let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

/// Whether the package is in the library's repository.
///
/// A package that `Scripts/split` wrote is not. If the guide moves within the repository, the tests fail.
private let hasGuide = FileManager.default.fileExists(
    atPath: root.appending(path: "Scripts/split").path(percentEncoded: false)
)

/// Tests that the tables of the guide "From an OpenAPI document" are complete, and that the generator knows the library.
@Suite(.enabled(if: hasGuide, "The guide is in the library's repository, which is not around this package."))
struct GuideTests {
    private static var file: URL {
        root.appending(path: "Sources/ApiConnectorOpenAPI/Documentation.docc/Guides/FromAnOpenAPIDocument.md")
    }

    private func guide() throws -> String {
        try String(contentsOf: Self.file, encoding: .utf8)
    }

    /// The cells of each row in the table of keywords, by the row's first cell.
    private func rows() throws -> [String: [String]] {
        let lines = try guide().split(separator: "\n").drop { !$0.hasPrefix("| Part |") }.dropFirst(2)
        let cells = lines.prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return Dictionary(uniqueKeysWithValues: cells.map { ($0[0], $0) })
    }

    @Test func theTableListsEachKeywordOfAnObject() throws {
        let parts: [SpecificationReader.ObjectKind: String] = [
            .root: "Document", .path: "Path", .operation: "Operation", .parameter: "Parameter",
            .body: "Request body", .content: "Media type", .response: "Response",
        ]
        let rows = try rows()
        #expect(parts.count == SpecificationReader.ObjectKind.allCases.count)
        for (kind, part) in parts {
            let text = rows[part, default: []].joined()
            for keyword in kind.keywords.sorted() { #expect(text.contains("`\(keyword)`"), "\(part): \(keyword)") }
        }
    }

    @Test func theTableListsEachKeywordOfASchemaInItsColumn() throws {
        let schemas = try rows().filter { $0.key.hasPrefix("Schema") }.values
        #expect(schemas.count == 5)
        let warned = schemas.map { $0[2] }.joined()
        for keyword in SchemaReader.unsupported.keys { #expect(warned.contains("`\(keyword)`"), "\(keyword)") }
        let others = schemas.map { $0[1] + $0[3] }.joined()
        for keyword in SchemaReader.supported { #expect(others.contains("`\(keyword)`"), "\(keyword)") }
    }

    /// A generated type with such a name would shadow the library's type in generated code.
    @Test func noGeneratedTypeHasTheNameOfATypeOfTheLibrary() throws {
        let listing = try String(contentsOf: root.appending(path: "API/ApiConnectorOpenAPI.txt"), encoding: .utf8)
        let types = listing.matches(of: #/(?m)^(\w+): (?:[@a-zA-Z]+ )*(?:struct|class|enum|protocol|typealias) /#)
        let names = Set(types.map { String($0.1) })
        #expect(names.contains("OperationRouter"))
        #expect(names == ReservedNames.support)
    }

    @Test func theTableListsEachSetting() throws {
        let text = try guide()
        for setting in [
            "name", "prefix", "access", "routers", "documentation", "alwaysCodable", "equatable", "hashable", "pages",
            "modules", "tags", "paths", "operations", "renames",
        ] {
            #expect(text.contains("`\(setting)`"), "\(setting)")
        }
    }
}
