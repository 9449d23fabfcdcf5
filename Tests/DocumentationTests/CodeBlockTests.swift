// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

/// Every block of Swift in the README and the guides is in a file that is compiled.
struct CodeBlockTests {
    static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    /// The documents whose code is checked: the README and every page of the DocC catalogs.
    static let documents: [URL] = {
        let sources = FileManager.default.enumerator(
            at: root.appending(path: "Sources"),
            includingPropertiesForKeys: nil
        )
        let pages = sources?.compactMap { $0 as? URL }.filter { $0.pathExtension == "md" } ?? []
        return [root.appending(path: "README.md")] + pages.sorted { $0.path < $1.path }
    }()

    /// The compiled files, each as lines without indentation.
    static let compiled: [[String]] = {
        // Code over another library is compiled where that library, or a stub of it, may be a dependency.
        let folders = ["Tests", "Benchmarks/Sources", "OpenAPI/Tests", "Inspector/Tests", "Fleet/Tests"]
        let files = folders.flatMap { folder in
            let found = FileManager.default.enumerator(
                at: root.appending(path: folder),
                includingPropertiesForKeys: nil
            )
            return found?.compactMap { $0 as? URL } ?? []
        }
        return files.filter { $0.lastPathComponent.hasPrefix("Snippet") && $0.pathExtension == "swift" }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
            .map(lines)
    }()

    @Test func findsTheDocuments() {
        #expect(Self.documents.count >= 3)
        #expect(!Self.compiled.isEmpty)
    }

    @Test(arguments: documents)
    func compilesEveryBlock(of document: URL) throws {
        let text = try String(contentsOf: document, encoding: .utf8)
        let blocks = Self.blocks(in: text)
        #expect(!blocks.isEmpty || document.lastPathComponent != "README.md")
        for block in blocks {
            let isCompiled = Self.compiled.contains { $0.contains(block) }
            #expect(
                isCompiled,
                "in no Snippet file of the tests: \(block.joined(separator: "\n"))"
            )
        }
    }

    /// The lines of each fenced block of Swift, without indentation and without empty lines.
    private static func blocks(in text: String) -> [[String]] {
        var blocks: [[String]] = []
        var isSwift = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isSwift = line == "```swift"
                if isSwift { blocks.append([]) }
            } else if isSwift {
                blocks[blocks.count - 1] += lines(String(line))
            }
        }
        return blocks
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
