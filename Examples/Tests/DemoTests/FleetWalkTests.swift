// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic
import Backends
import DemoServer
import Foundation
import Testing
import Walkthrough

struct FleetWalkTests {
    @Test func fourInstancesWithSharedStateKeepOneLimitAndRefreshOnce() async throws {
        let lines = Lines()
        let walk = Walk(write: lines.append)
        let state = MemorySharedState()
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            await walk.fleet(over: SystemProvider(), at: .stock(on: location)) { state }
        }
        #expect(walk.isAsExpected, "\(lines.text)")
        #expect(walk.stepCount == 6)
        #expect(lines.text.contains("40 calls, with shared state: the server got 50 requests\n"))
        #expect(lines.text.contains("an expired token, with shared state: 1 refresh\n"))
    }

    @Test func theProgramWithRedisIsUsedIfItIsNextToTheDemoAndRedisIsInstalled() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        func url() -> URL? { FleetProgram.url(nextTo: folder.appending(path: "demo"), redisIn: ["/", folder.path]) }
        func make(_ name: String) {
            let path = folder.appending(path: name).path
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o700]))
        }
        #expect(url() == nil)
        make("fleet")
        #expect(url() == nil)
        make("redis-server")
        #expect(url()?.path == folder.appending(path: "fleet").path)
        try FileManager.default.removeItem(at: folder.appending(path: "fleet"))
        #expect(url() == nil)
    }
}
