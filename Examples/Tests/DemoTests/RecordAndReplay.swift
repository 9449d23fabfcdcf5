// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Backends
import DemoServer
import Testing
import Walkthrough

/// The blog's traffic, recorded against the demo's server and replayed without a server.
@Suite(.timeLimit(.minutes(10))) struct RecordAndReplay {
    private let file = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-\(UUID().uuidString).har")

    @Test func aReplayedWalkShowsTheSameAsTheRecordedOne() async throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let recorded = Lines()
        try await DemoServer.run { url in
            let location = try #require(ServerLocation(url))
            try await Walk(write: recorded.append).recordBlog(at: location, over: SystemProvider(), in: file)
        }

        let replayed = Lines()
        let walk = Walk(write: replayed.append)
        try await walk.replayBlog(from: file)

        #expect(walk.isAsExpected)
        #expect(walk.stepCount == 6)
        #expect(replayed.text == recorded.text)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("a-token-for-ted"))
        #expect(!text.contains("pug"))
        #expect(text.contains("REDACTED-token-1"))
    }

    @Test func aWalkThatIsNotAsExpectedIsNotRecorded() async throws {
        let nowhere = ServerLocation(host: "127.0.0.1", port: 1)
        await #expect(throws: NotAsExpected.self) {
            try await Walk(write: { _ in }).recordBlog(at: nowhere, over: SystemProvider(), in: file)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
