// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Walkthrough

/// `demo record`.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Walk through the blog and record the traffic as HAR, without secrets."
    )

    @Option(help: "The file to write.")
    var file = "blog.har"

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let file = URL(filePath: file)
        try await server.use { location in
            let walk = Walk(style: .standardOutput)
            try await walk.recordBlog(at: location, over: SystemProvider(), in: file)
        }
        print("\nRecorded in \(file.lastPathComponent); 'demo replay' repeats the walk without a server.")
    }
}
