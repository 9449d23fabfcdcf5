// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import Foundation
import Support
import Testing

struct ResolverTests {
    /// The test runs a separate program, because a library is preloaded when a process starts.
    @Test func aNameLookupThatHangsDelaysNoOtherCall() throws {
        let folder = try #require(URL(string: "file://\(CommandLine.arguments[0])")).deletingLastPathComponent()
        let output = try Shell.run("LD_PRELOAD=\"$PWD/libHangingResolver.so\" timeout 600 ./resolving", in: folder)
        #expect(output.contains("cancelled: answered"))
        #expect(output.contains("The name lookup took "))
        print(output)
    }
}
#endif
