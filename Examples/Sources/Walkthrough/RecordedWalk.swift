// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
package import ApiConnector
import ApiConnectorTesting
package import Backends

extension Walk {
    /// Walks through the blog and records the traffic.
    ///
    /// The recording is saved only if every step was as expected.
    package func recordBlog(at location: ServerLocation, over provider: some DataRequestType, in file: URL) async throws
    {
        let recorder = try Recorder(file, mode: .record)
        try await recorder.saving {
            await blog(.server(location), over: provider.recording(by: recorder))
            guard isAsExpected else { throw NotAsExpected() }
        }
    }

    /// Repeats the walk without a server.
    ///
    /// The responses come from the recording.
    package func replayBlog(from file: URL) async throws {
        guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { throw NoBlog(file: file) }
        let recording = try Recording(contentsOf: file)
        guard let url = recording.requests.first?.url,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let blog = components.path.range(of: "/blog/", options: .backwards)
        else { throw NoBlog(file: file) }
        components.path = String(components.path[..<blog.lowerBound])
        guard let server = components.url.flatMap({ ServerLocation($0) }) else { throw NoBlog(file: file) }
        await self.blog(.server(server), over: TestConnector(Replay(recording)))
    }
}

/// The error for a file that is missing, or that is not a recording of the blog.
private struct NoBlog: Error, CustomStringConvertible {
    let file: URL

    var description: String { "\(file.lastPathComponent) is not a recording of the blog; make one with 'demo record'" }
}

/// The error for a walk that was not as expected.
package struct NotAsExpected: Error, CustomStringConvertible {
    package var description: String { "the walk did not go as expected and was not recorded" }
}
