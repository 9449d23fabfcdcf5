// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Foundation

/// The program of the package Fleet, which runs several processes with Redis.
///
/// Examples does not depend on Fleet, which needs hiredis. Scripts/check builds the programs of all packages in one
/// folder.
package enum FleetProgram {
    /// The program next to another one; nil if it was not built, or if Redis is not installed.
    ///
    /// - Parameters:
    ///   - program: The other program.
    ///   - folders: The folders of the system's programs; those of the environment by default.
    package static func url(nextTo program: URL, redisIn folders: [String] = systemFolders) -> URL? {
        let files = FileManager.default
        let fleet = program.deletingLastPathComponent().appending(path: "fleet")
        let hasRedis = folders.contains { files.isExecutableFile(atPath: $0 + "/redis-server") }
        return hasRedis && files.isExecutableFile(atPath: fleet.path) ? fleet : nil
    }

    /// The folders of `PATH`, and the one of Debian's servers.
    package static var systemFolders: [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map(String.init) + ["/usr/sbin"]
    }
}
