// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// A large body that is streamed over TLS.
///
/// Each reader runs in its own process.
struct G16SecureDownload: Goal {
    let number = "G16"
    let title = "512 MB streamed over TLS"

    private struct Line {
        let name: String
        let port: Int
        let isMultiplexed: Bool
        let goal: Double
        let readers: [BodyReader]
    }

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let byteCount = bench.isQuick ? 128 << 20 : 512 << 20
        let path = "/" + (try nginx.counterFile(byteCount: byteCount)).lastPathComponent
        let others: [BodyReader] = bench.isQuick ? [] : [.urlSession]
        let lines = [
            Line(
                name: "HTTP/1.1",
                port: nginx.securePort,
                isMultiplexed: false,
                goal: 1.1,
                readers: [.system, .asyncHTTPClient] + others
            ),
            Line(
                name: "HTTP/2",
                port: nginx.multiplexedPort,
                isMultiplexed: true,
                goal: 2,
                readers: [.system, .asyncHTTPClient]
            ),
        ]
        var outcome = Outcome(goal: number, title: title)
        for line in lines { try await measure(line, nginx, path, byteCount, bench, &outcome) }
        return outcome
    }

    private func measure(
        _ line: Line,
        _ nginx: NginxServer,
        _ path: String,
        _ byteCount: Int,
        _ bench: Bench,
        _ outcome: inout Outcome
    ) async throws {
        var contest = Contest()
        var processorSeconds: [BodyReader: [Double]] = [:]
        for reader in line.readers {
            let arguments = [
                "read", reader.rawValue, nginx.secureURL(path, port: line.port).absoluteString,
                nginx.url("/small").absoluteString,
            ]
            contest.add(reader.name) {
                let reading = try Program.child(
                    arguments + (line.isMultiplexed ? ["--multiplexed"] : []),
                    environment: nginx.trustingEnvironment,
                    as: ReadBodyCommand.Reading.self
                )
                guard reading.byteCount == byteCount else {
                    throw WrongFixture(description: "\(reader.name) read \(reading.byteCount) of \(byteCount) bytes")
                }
                processorSeconds[reader, default: []].append(reading.processorSeconds)
                return Double(reading.byteCount) / 1e6 / reading.seconds
            }
        }
        let samples = try await contest.run(rounds: bench.isQuick ? 3 : 5)
        for reader in line.readers {
            let name = "\(line.name), \(reader.name)"
            outcome.add(Figure(name, samples.median(reader.name), .megabytesPerSecond))
            outcome.add(Figure("\(name), processor", 1e3 * (processorSeconds[reader] ?? []).median, .milliseconds))
        }
        let (ours, rival) = (BodyReader.system.name, BodyReader.asyncHTTPClient.name)
        outcome.add(Check("\(line.name), × \(rival)", samples.ratio(ours, to: rival), atLeast: line.goal))
    }
}
