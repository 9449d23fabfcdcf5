// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// A large file that is sent by PUT.
///
/// Each upload runs in its own process.
struct G15Upload: Goal {
    let number = "G15"
    let title = "512 MB sent from a file"

    func measure(on bench: Bench) async throws -> Outcome {
        let sink = try SinkServer()
        defer { sink.stop() }
        let nginx = try bench.nginx()
        // A quick run sends a quarter, because URLSession takes seconds.
        let byteCount = bench.isQuick ? 128 << 20 : 512 << 20
        let file = try nginx.counterFile(byteCount: byteCount)

        var contest = Contest()
        var sendings: [FileSender: [SendFileCommand.Sending]] = [:]
        for sender in FileSender.allCases {
            contest.add(sender.name) {
                let sending = try Self.send(file, byteCount, to: sink.url("/"), by: sender)
                sendings[sender, default: []].append(sending)
                return Double(byteCount) / 1e6 / sending.seconds
            }
        }
        let samples = try await contest.run(rounds: bench.isQuick ? 3 : 5)
        var outcome = Outcome(goal: number, title: title)
        for sender in FileSender.allCases {
            let all = sendings[sender] ?? []
            let peak = all.map(\.peakByteCount).max() ?? 0
            outcome.add(Figure(sender.name, samples.median(sender.name), .megabytesPerSecond))
            outcome.add(Figure("\(sender.name), processor", 1e3 * all.map(\.processorSeconds).median, .milliseconds))
            outcome.add(Figure("\(sender.name), peak memory", Double(peak) / 1e6, .megabytes))
        }
        let ours = FileSender.system.name
        for (rival, goal) in [(FileSender.asyncHTTPClient.name, 1.5), (FileSender.urlSession.name, 10.0)] {
            outcome.add(Check("× \(rival)", samples.ratio(ours, to: rival), atLeast: goal))
        }
        let checked = try Self.send(file, byteCount, to: sink.url(SinkServer.checkedPath), by: .system)
        let peak = ((sendings[.system] ?? []) + [checked]).map(\.peakByteCount).max() ?? 0
        outcome.add(
            Check("peak memory", Double(peak) / 1e6, atMost: 40, .megabytes),
            Check("bytes that differ", Double(checked.wrongByteCount), atMost: 0, .count)
        )
        return outcome
    }

    private static func send(
        _ file: URL,
        _ byteCount: Int,
        to url: URL,
        by sender: FileSender
    ) throws -> SendFileCommand.Sending {
        let arguments = ["send", sender.rawValue, file.path, url.absoluteString]
        let sending = try Program.child(arguments, as: SendFileCommand.Sending.self)
        guard sending.byteCount == byteCount else {
            throw WrongFixture(description: "\(sender.name) sent \(sending.byteCount) of \(byteCount) bytes")
        }
        return sending
    }
}

/// `goals child send`: sends a file and prints the time and the memory.
struct SendFileCommand: AsyncParsableCommand {
    struct Sending: Codable {
        var seconds = 0.0
        /// The processor time of all threads.
        var processorSeconds = 0.0
        /// The number of bytes that the server received.
        var byteCount = 0
        var wrongByteCount = 0
        var peakByteCount = 0
    }

    static let configuration = CommandConfiguration(commandName: "send", shouldDisplay: false)

    @Argument var sender: FileSender
    @Argument var file: String
    @Argument var url: String

    func run() async throws {
        guard let url = URL(string: url) else { throw ValidationError("no URL") }
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await sender.send(URL(filePath: file), to: url)
        var sending = Sending()
        sending.seconds = (clock.now - start).seconds
        sending.processorSeconds = ProcessorTime.now
        sending.byteCount = answer.byteCount
        sending.wrongByteCount = answer.wrongByteCount
        sending.peakByteCount = ProcessMemory.peak
        try ChildCommand.report(sending)
    }
}
