// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import MicroCases
import Synchronization
import SystemBundle

/// `goals child loop-work`: one turn of `goals child loops`, in a process that trusts the server.
struct LoopWorkCommand: AsyncParsableCommand {
    struct Reading: Codable {
        /// The rate: requests per second, or megabytes per second for downloads.
        var perSecond = 0.0
        /// The total number of requests or megabytes, including those that were not measured.
        var count = 0.0
        /// The shares of the threads, sorted by running time, longest first.
        var threads: [ThreadTimes.Share] = []
    }

    static let configuration = CommandConfiguration(commandName: "loop-work", shouldDisplay: false)

    @Argument var work: LoopWork
    @Argument var url: String
    @Option var loops = 1
    @Option var inFlight = 64
    @Option var seconds = 1.0

    func run() async throws {
        guard let url = URL(string: url) else { throw ValidationError("no URL") }
        var configuration = CurlConfiguration()
        // The bundle is set here, so that an additional connection does not read the system's bundle.
        configuration.certificateAuthorityFile = ProcessInfo.processInfo.environment[SYSTEM_BUNDLE_VARIABLE]
            .map { URL(filePath: $0) }
        let providers = (0..<loops).map { _ in CurlProvider(configuration: configuration) }
        var reading = Reading()
        if work == .downloads {
            let (start, threads) = (ContinuousClock.now, ThreadTimes.now)
            reading.count = Double(try await download(url, providers)) / 1e6
            let elapsed = (ContinuousClock.now - start).seconds
            reading.perSecond = reading.count / elapsed
            reading.threads = ThreadTimes.now.shares(since: threads, seconds: elapsed)
        } else {
            // The connections are opened in a first turn, which does not count.
            for turn in [Duration.seconds(1), .seconds(seconds)] {
                let (start, threads) = (ContinuousClock.now, ThreadTimes.now)
                reading.perSecond = try await rate(url, providers, for: turn)
                let elapsed = (ContinuousClock.now - start).seconds
                reading.count += reading.perSecond * elapsed
                reading.threads = ThreadTimes.now.shares(since: threads, seconds: elapsed)
            }
        }
        try ChildCommand.report(reading)
    }

    private func rate(_ url: URL, _ providers: [CurlProvider], for duration: Duration) async throws -> Double {
        let next = NextProvider(providers)
        return try await Rate.perSecond(inFlight: inFlight, for: duration) {
            keep(try await next.provider.response(for: ApiRequest(url: url)).body.collect(upTo: 1 << 20))
        }
    }

    /// Reads the file concurrently, once per call in flight.
    ///
    /// Returns the number of bytes.
    private func download(_ url: URL, _ providers: [CurlProvider]) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<inFlight {
                let provider = providers[index % providers.count]
                group.addTask {
                    let response = try await provider.response(for: ApiRequest(url: url, delivery: .streamed))
                    var byteCount = 0
                    for try await chunk in response.body { byteCount += chunk.count }
                    return byteCount
                }
            }
            return try await group.reduce(0, +)
        }
    }
}

/// Returns several providers by turns.
private final class NextProvider: Sendable {
    private let providers: [CurlProvider]
    private let count = Atomic(0)

    init(_ providers: [CurlProvider]) {
        self.providers = providers
    }

    var provider: CurlProvider {
        providers[count.add(1, ordering: .relaxed).oldValue % providers.count]
    }
}
