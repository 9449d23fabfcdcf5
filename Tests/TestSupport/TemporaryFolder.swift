// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A folder for one test, gone with it.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names of what is in it, in order.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []).sorted()
    }

    package func file(_ name: String) -> URL {
        url.appending(path: name)
    }

    package func write(_ data: Data, to name: String) throws -> URL {
        try data.write(to: file(name))
        return file(name)
    }

    package func data(_ name: String) -> Data? {
        try? Data(contentsOf: file(name))
    }
}
