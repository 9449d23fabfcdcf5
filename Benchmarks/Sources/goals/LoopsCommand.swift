// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser

/// `goals child loops`: measures the limit of one libcurl thread.
///
/// It measures the same work over one provider and over several providers, by turns. Each provider has its own thread
/// and its own connections.
struct LoopsCommand: AsyncParsableCommand {
    struct Report: Codable {
        var loops = 0
        /// The rate: requests per second, or megabytes per second for downloads.
        var perSecond = 0.0
        /// The share of time in which the busiest libcurl thread runs.
        var loopRuns = 0.0
        var loopWaitsForACore = 0.0
        var loopSleeps = 0.0
        /// The processor time of the libcurl threads per request or megabyte.
        var loopMicroseconds = 0.0
        var otherThreadsMicroseconds = 0.0
        var nginxMicroseconds = 0.0
    }

    static let configuration = CommandConfiguration(commandName: "loops", shouldDisplay: false)

    @Argument var work: LoopWork
    @Option var loops = [1, 2]
    @Option var inFlight = 64
    @Option var seconds = 1.0
    @Option var rounds = 3
    @Option var workers = 1

    func run() async throws {
        let nginx = try NginxServer(workerCount: workers)
        defer { nginx.stop() }
        var reports: [Int: [Report]] = [:]
        for _ in 0..<rounds {
            for count in loops { reports[count, default: []].append(try report(count, nginx)) }
        }
        for count in loops {
            let all = reports[count] ?? []
            func median(_ path: KeyPath<Report, Double>) -> Double { all.map { $0[keyPath: path] }.median }
            try ChildCommand.report(
                Report(
                    loops: count,
                    perSecond: median(\.perSecond),
                    loopRuns: median(\.loopRuns),
                    loopWaitsForACore: median(\.loopWaitsForACore),
                    loopSleeps: median(\.loopSleeps),
                    loopMicroseconds: median(\.loopMicroseconds),
                    otherThreadsMicroseconds: median(\.otherThreadsMicroseconds),
                    nginxMicroseconds: median(\.nginxMicroseconds)
                )
            )
        }
    }

    private func report(_ count: Int, _ nginx: NginxServer) throws -> Report {
        let arguments = [
            "loop-work", work.rawValue, try work.url(on: nginx).absoluteString, "--loops", "\(count)",
            "--in-flight", "\(inFlight)", "--seconds", "\(seconds)",
        ]
        let before = nginx.processorSeconds
        let reading = try Program.child(
            arguments,
            environment: nginx.trustingEnvironment,
            as: LoopWorkCommand.Reading.self
        )
        let nginxSeconds = nginx.processorSeconds - before
        // The libcurl threads are the threads with the longest running time. The other threads only resume tasks.
        let loops = reading.threads.prefix(count)
        let others = reading.threads.dropFirst(count)
        let first = loops.first ?? ThreadTimes.Share(running: 0, waiting: 0)
        return Report(
            loops: count,
            perSecond: reading.perSecond,
            loopRuns: first.running,
            loopWaitsForACore: first.waiting,
            loopSleeps: 1 - first.running - first.waiting,
            loopMicroseconds: loops.map(\.running).reduce(0, +) * 1e6 / reading.perSecond,
            otherThreadsMicroseconds: others.map(\.running).reduce(0, +) * 1e6 / reading.perSecond,
            nginxMicroseconds: nginxSeconds * 1e6 / reading.count
        )
    }
}

/// The work that several loops could share.
enum LoopWork: String, ExpressibleByArgument {
    case http, https, http2, downloads

    func url(on nginx: NginxServer) throws -> URL {
        switch self {
        case .http: return nginx.url("/small")
        case .https: return nginx.secureURL("/small", port: nginx.securePort)
        case .http2: return nginx.secureURL("/small", port: nginx.multiplexedPort)
        case .downloads:
            let file = try nginx.counterFile(byteCount: 512 << 20)
            return nginx.secureURL("/" + file.lastPathComponent, port: nginx.securePort)
        }
    }
}
