// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

/// The document from which the client in `Generated` is generated.
package enum BlogDocument {
    /// The source folder with the document, the generator's configuration and the client, on the machine that built
    /// this program.
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// Writes the document to a new folder, calls a closure with the file, and removes the folder.
    package static func withFile<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "blog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "blog.json")
        try Data(PackageResources.blog_json).write(to: file)
        return try await body(file)
    }
}
