// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Support
import Testing

struct ExitTests {
    /// The test runs separate programs, because each program can exit only once.
    @Test func programsThatExitEndWithTheirStatusAndTheirOutput() throws {
        let folder = try #require(URL(string: "file://\(CommandLine.arguments[0])")).deletingLastPathComponent()
        print(try Shell.run("timeout 300 ./exiting 256", in: folder))
    }
}
#endif
