// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo download`: after Ctrl-C, the next run resumes the download.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download 8 MiB slowly. After Ctrl-C, the next run resumes the download."
    )

    @Option(
        help: "The path of the file; by default a fixed name in the temporary folder.",
        transform: { URL(filePath: $0) }
    )
    var to = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-demo.bin")

    @Option(help: "The server's pause before each 64 KiB, in milliseconds.")
    var pause = 25

    @Option(help: ArgumentHelp("The number of bytes after which the server stalls, once.", visibility: .hidden))
    var hold: Int?

    @OptionGroup var server: ServerOptions

    func run() async throws {
        // The port is fixed, because a download can be resumed only if the URL is the same.
        try await server.use(port: 8089) { location in
            let exports = Exports(.exports(on: location), over: SystemProvider())
            let route = ExportRouter.archive(pause: pause, hold: hold)
            let (ready, start) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let download = Task { () async throws(ApiConnectorError) in
                // The download starts after the handler for Ctrl-C is installed.
                for await _ in ready { break }
                return try await exports.download(to: to, route: route, telling: .standardOutput)
            }
            let interruption = Interruption(whenReady: { start.yield() }) { download.cancel() }
            defer { interruption.stop() }
            do {
                let file = try await download.value
                let how = file.head.status == 206 ? ", resumed from the last run" : ""
                print("\(file.byteCount) bytes are in \(file.file.path(percentEncoded: false))\(how).")
            } catch let error as ApiConnectorError where error.kind == .cancelled {
                print("Interrupted; run it again to resume.")
                throw ExitCode(130)
            }
        }
    }
}

/// Handles Ctrl-C instead of ending the program immediately.
private final class Interruption {
    private let source: any DispatchSourceSignal

    init(whenReady: @escaping @Sendable () -> Void, _ handle: @escaping @Sendable () -> Void) {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setRegistrationHandler(handler: whenReady)
        source.setEventHandler(handler: handle)
        source.resume()
    }

    func stop() {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }
}
