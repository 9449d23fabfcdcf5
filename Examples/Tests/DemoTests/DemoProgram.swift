// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation

/// The program `demo`, which the build puts next to this test bundle.
enum DemoProgram {
    static let url = folder.appending(path: "demo")

    static let isBuilt = FileManager.default.isExecutableFile(atPath: url.path)

    private static var folder: URL {
        #if os(macOS)
        // A program of the toolchain loads the test bundle.
        Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        #else
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        #endif
    }

    #if os(macOS)
    private final class Anchor {}
    #endif
}
