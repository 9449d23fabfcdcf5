// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases

/// 512 MB that are streamed through SystemProvider.
///
/// Each reader runs in its own process.
///
/// A bare loop of recv(2) shows the machine's limit.
struct G04LargeBody: Goal {
    let number = "G4"
    let title = "512 MB streamed through SystemProvider"
    static let byteCount = 512 << 20
    private static let besideBound = 1.2

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let path = "/" + (try nginx.counterFile(byteCount: Self.byteCount)).lastPathComponent
        var outcome = Outcome(goal: number, title: title)
        try await measureSpeed(nginx, path, &outcome)
        try measureMemory(nginx, path, bench, &outcome)
        return outcome
    }

    private func measureSpeed(_ nginx: NginxServer, _ path: String, _ outcome: inout Outcome) async throws {
        var contest = Contest()
        for reader in BodyReader.allCases {
            contest.add(reader.name) {
                let reading = try Self.read(nginx, path, by: reader, isSlow: false)
                return Double(reading.byteCount) / 1e6 / reading.seconds
            }
        }
        let samples = try await contest.run(rounds: 5)
        for reader in BodyReader.allCases {
            outcome.add(Figure("fast consumer, \(reader.name)", samples.median(reader.name), .megabytesPerSecond))
        }
        let ours = BodyReader.system.name
        let floor = samples.ratio(BodyReader.socket.name, to: BodyReader.asyncHTTPClient.name)
        outcome.add(Figure("fast consumer, \(BodyReader.socket.name) × async-http-client", floor, .times))
        for (rival, goal) in [(BodyReader.urlSession.name, 2.0), (BodyReader.asyncHTTPClient.name, 1.5)] {
            outcome.add(Check("fast consumer, × \(rival)", samples.ratio(ours, to: rival), atLeast: goal))
        }
    }

    /// Measures memory with a slow consumer, which checks every byte, and reads nothing in the first second.
    private func measureMemory(
        _ nginx: NginxServer,
        _ path: String,
        _ bench: Bench,
        _ outcome: inout Outcome
    ) throws {
        let readers = bench.isQuick ? [BodyReader.system] : BodyReader.allCases.filter { $0 != .socket }
        for reader in readers {
            var reading = try Self.read(nginx, path, by: reader, isSlow: true)
            // The ratio compares two periods of a second. Another process may be busy in one of them, so a bad ratio is
            // measured again. Memory and bytes count in each measurement.
            for _ in 0..<2 where reading.besideRatio > Self.besideBound {
                let again = try Self.read(nginx, path, by: reader, isSlow: true)
                reading.besideRatio = min(reading.besideRatio, again.besideRatio)
                reading.peakByteCount = max(reading.peakByteCount, again.peakByteCount)
                reading.wrongByteCount += again.wrongByteCount
            }
            let peak = Double(reading.peakByteCount) / 1e6
            guard reader == .system else {
                outcome.add(Figure("slow consumer, peak memory, \(reader.name)", peak, .megabytes))
                continue
            }
            outcome.add(
                Check("slow consumer, peak memory", peak, atMost: 40, .megabytes),
                Check("bytes that differ", Double(reading.wrongByteCount), atMost: 0, .count),
                Check("time of concurrent requests", reading.besideRatio, atMost: Self.besideBound)
            )
        }
    }

    /// Reads the file in a child process.
    static func read(
        _ nginx: NginxServer,
        _ path: String,
        by reader: BodyReader,
        isSlow: Bool
    ) throws -> ReadBodyCommand.Reading {
        let arguments = [
            "read", reader.rawValue, nginx.url(path).absoluteString, nginx.url("/small").absoluteString,
        ]
        let reading = try Program.child(arguments + (isSlow ? ["--slow"] : []), as: ReadBodyCommand.Reading.self)
        guard reading.byteCount == byteCount else {
            throw WrongFixture(description: "\(reader.name) read \(reading.byteCount) of \(byteCount) bytes")
        }
        return reading
    }
}

/// `goals child read`: reads a body and prints the time and the memory.
struct ReadBodyCommand: AsyncParsableCommand {
    struct Reading: Codable {
        var seconds = 0.0
        /// The processor time of all threads.
        var processorSeconds = 0.0
        var byteCount = 0
        var wrongByteCount = 0
        var peakByteCount = 0
        /// The time of a small request while the body is read, divided by its time without the body.
        var besideRatio = 0.0
    }

    static let configuration = CommandConfiguration(commandName: "read", shouldDisplay: false)

    @Argument var reader: BodyReader
    @Argument var url: String
    @Argument var smallURL: String
    @Flag var slow = false
    /// Whether this library may use HTTP/2 for a stream.
    ///
    /// The rivals use the version that the server offers.
    @Flag var multiplexed = false

    func run() async throws {
        guard let url = URL(string: url), let small = URL(string: smallURL) else { throw ValidationError("no URL") }
        let clock = ContinuousClock()
        var reading = Reading()
        let alone = slow ? try await besideMicroseconds(small) : 1
        let start = clock.now
        var checker = CounterChecker()
        try await reader.read(url, multiplexed: multiplexed) { chunk in
            if slow {
                if checker.byteCount == 0 { reading.besideRatio = try await besideMicroseconds(small) / alone }
                checker.check(chunk)
                // This is 200 MB per second, a sixth of the transport's maximum.
                try await Task.sleep(for: .nanoseconds(5 * chunk.count))
            } else {
                checker.skip(chunk.count)
            }
        }
        reading.seconds = (clock.now - start).seconds
        reading.processorSeconds = ProcessorTime.now
        reading.byteCount = checker.byteCount
        reading.wrongByteCount = checker.wrongByteCount
        reading.peakByteCount = ProcessMemory.peak
        try ChildCommand.report(reading)
    }

    /// The time of a small request on the shared transport, in microseconds.
    ///
    /// It is measured for a second.
    private func besideMicroseconds(_ url: URL) async throws -> Double {
        guard reader == .system else {
            try await Task.sleep(for: .seconds(1))
            return 1
        }
        return 1e6
            / (try await Rate.perSecond(inFlight: 1, for: .seconds(1)) {
                let response = try await SystemProvider().response(for: ApiRequest(url: url))
                keep(try await response.body.collect(upTo: 1 << 20))
            })
    }
}
