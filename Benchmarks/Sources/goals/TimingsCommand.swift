// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@_spi(Benchmarks) import ApiConnector
import ArgumentParser
import MicroCases
import SystemBundle

/// `goals child timings`: small GETs by a provider that measures times and by one that does not, in pairs of turns.
///
/// Each call reads the times of its response.
///
/// Because of the process's environment, both providers trust the server.
struct TimingsCommand: AsyncParsableCommand {
    /// The ratios of each pair: with times to without.
    struct Reading: Codable {
        /// Processor time of this process per request.
        var processorTime: [Double] = []
        var perSecond: [Double] = []
        /// The median processor time of a request without times, in microseconds.
        var microseconds = 0.0
    }

    static let configuration = CommandConfiguration(commandName: "timings", shouldDisplay: false)

    @Argument var scheme: String
    @Argument var port: Int
    @Option var inFlight: Int
    @Option var pairs: Int
    @Option var turnMilliseconds: Int
    @Option var width: Double
    /// Whether neither provider measures times, so that every ratio should be 1.
    @Flag var control = false

    func run() async throws {
        let (measuring, other) = (try await get(measuresTimes: !control), try await get(measuresTimes: false))
        var microseconds: [Double] = []
        let ratios = try await PairedTurns.figures(pairCount: pairs, width: width) { isFirst in
            var (with, without): (Turn, Turn)
            if isFirst {
                with = try await turn(of: measuring)
                without = try await turn(of: other)
            } else {
                without = try await turn(of: other)
                with = try await turn(of: measuring)
            }
            microseconds.append(without.microseconds)
            return [with.microseconds / without.microseconds, with.perSecond / without.perSecond]
        }
        try ChildCommand.report(
            Reading(processorTime: ratios[0], perSecond: ratios[1], microseconds: microseconds.median)
        )
    }

    private struct Turn {
        let perSecond: Double
        let microseconds: Double
    }

    private func turn(of get: any SmallGet) async throws -> Turn {
        let clock = ContinuousClock()
        let (start, processorStart) = (clock.now, ProcessorTime.now)
        let rate = try await Rate.perSecond(inFlight: inFlight, for: .milliseconds(turnMilliseconds)) {
            keep(try await get.value())
        }
        let count = rate * (clock.now - start).seconds
        return Turn(perSecond: rate, microseconds: (ProcessorTime.now - processorStart) * 1e6 / count)
    }

    private func get(measuresTimes: Bool) async throws -> any SmallGet {
        guard let scheme = HTTPScheme(rawValue: scheme) else { throw ValidationError("no scheme") }
        var configuration = CurlConfiguration()
        configuration.measuresTimes = measuresTimes
        // The bundle is set here, so that an additional connection does not read the system's bundle.
        configuration.certificateAuthorityFile = ProcessInfo.processInfo.environment[SYSTEM_BUNDLE_VARIABLE]
            .map { URL(filePath: $0) }
        let provider = CurlProvider(configuration: configuration)
        let get = TimedGet(provider, scheme: scheme, port: port)
        try await get.check()
        let times = try await get.response().times
        guard (times?[.responseWait] != nil) == measuresTimes else {
            throw WrongFixture(description: "the provider measured \(times.map { "\($0)" } ?? "no times")")
        }
        return get
    }
}

/// A small GET that reads the times of its response.
private struct TimedGet<Provider: DataRequestType>: SmallGet {
    private let api: NetworkConnector<Provider, SmallRouter>

    init(_ provider: Provider, scheme: HTTPScheme, port: Int) {
        api = NetworkConnector(environment: SmallEnvironment(scheme: scheme, port: port), provider: provider)
    }

    func response() async throws -> DecodedResponse<SmallValue> {
        try await api.response(of: SmallValue.self, at: .small)
    }

    func value() async throws -> SmallValue {
        let response = try await response()
        keep(response.times)
        return response.value
    }
}
