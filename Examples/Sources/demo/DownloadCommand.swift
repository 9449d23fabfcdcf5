// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import Backends
import Foundation
import Walkthrough

/// `demo download`: interrupted by Ctrl-C, it goes on where it was when it is run again.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download 8 MiB slowly; stop it with Ctrl-C and run it again, and it goes on where it was."
    )

    @Option(
        help: "Where the file goes; by default to a fixed name in the temporary folder.",
        transform: { URL(filePath: $0) }
    )
    var to = FileManager.default.temporaryDirectory.appending(path: "ApiConnector-demo.bin")

    @Option(help: "How many milliseconds the server waits before each piece of 64 KiB.")
    var pause = 25

    @Option(help: ArgumentHelp("Behind how many bytes the server stops for ever, once.", visibility: .hidden))
    var hold: Int?

    @OptionGroup var server: ServerOptions

    func run() async throws {
        // The same port each time: a download is gone on with only where the URL is the same.
        try await server.use(port: 8089) { location in
            let exports = Exports(.exports(on: location), over: SystemProvider())
            let route = ExportRouter.archive(pause: pause, hold: hold)
            let (ready, start) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let download = Task { () async throws(ApiConnectorError) in
                // Not before Ctrl-C is listened to.
                for await _ in ready { break }
                return try await exports.download(to: to, route: route, telling: .standardOutput)
            }
            let interruption = Interruption(whenReady: { start.yield() }) { download.cancel() }
            defer { interruption.stop() }
            do {
                let file = try await download.value
                let how = file.head.status == 206 ? ", from where the last run ended" : ""
                print("\(file.byteCount) bytes are in \(file.file.path(percentEncoded: false))\(how).")
            } catch let error as ApiConnectorError where error.kind == .cancelled {
                print("Interrupted; run it again and it goes on here.")
                throw ExitCode(130)
            }
        }
    }
}

/// What Ctrl-C does in place of ending the program at once.
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
