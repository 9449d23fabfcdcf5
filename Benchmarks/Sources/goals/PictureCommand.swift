// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// `goals picture`: measures what the project's README shows, in one run, and draws it.
struct PictureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "Measure small GETs and slow readers, and draw README.md's picture.",
        discussion: "Writes the picture in light and dark colors, and prints the lines for README.md."
    )

    @Argument(help: "The folder for the SVG files, as README.md names it.")
    var folder: String

    @Flag(help: "Measure in shorter, less exact runs.")
    var quick = false

    func run() async throws {
        let bench = Bench(isQuick: quick)
        defer { bench.end() }
        let nginx: NginxServer
        do {
            nginx = try bench.nginx()
        } catch let error as MissingProgram {
            Console.error(error.description)
            throw ExitCode(2)
        }
        let rates = try await PlainGets(nginx).contest(inFlight: 16, on: bench).run(rounds: bench.rounds)
        let path = "/" + (try nginx.counterFile(byteCount: G04LargeBody.byteCount)).lastPathComponent
        let memory = try [BodyReader.system, .asyncHTTPClient, .urlSession].map { reader in
            let reading = try G04LargeBody.read(nginx, path, by: reader, isSlow: true)
            guard reading.wrongByteCount == 0 else {
                throw WrongFixture(description: "\(reader.name) read \(reading.wrongByteCount) wrong bytes")
            }
            return Double(reading.peakByteCount) / 1e6
        }
        let names = ["ApiConnector", "async-http-client", "URLSession"]
        let date = Date.now.formatted(.iso8601.year().month().day())
        let picture = Picture(
            charts: [
                Picture.Chart(
                    title: "Requests per second",
                    subtitle: "small GET, decoded, 16 in flight; more is better",
                    unit: "",
                    bars: Array(zip(names, ["ours", "async-http-client", "URLSession"].map { rates.median($0) }))
                ),
                Picture.Chart(
                    title: "Peak memory of the process",
                    subtitle: "slow reader of 512 MB; less is better",
                    unit: "MB",
                    bars: Array(zip(names, memory))
                ),
            ],
            footnote: "\(date)\(quick ? " in a quick run" : ""), \(Machine.description)"
        )
        for appearance in Picture.Appearance.allCases {
            let file = URL(filePath: folder).appending(path: Picture.file(appearance))
            try picture.svg(appearance).write(to: file, atomically: true, encoding: .utf8)
        }
        Console.line(picture.markdown(folder: folder))
    }
}
