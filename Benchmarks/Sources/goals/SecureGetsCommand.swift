// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ArgumentParser
import AsyncHTTPClient
import MicroCases

/// `goals child gets`: small GETs over TLS by each client in turn, in a process whose system bundle contains the
/// server's authority.
struct SecureGetsCommand: AsyncParsableCommand {
    /// The results of a client's turns.
    struct Reading: Codable {
        let perSecond: Samples
        /// The processor time of this process per request.
        let microseconds: Samples
    }

    enum Client: String, CaseIterable, ExpressibleByArgument {
        case ours, urlSession, asyncHTTPClient

        var name: String {
            switch self {
            case .ours: "ours"
            case .urlSession: "URLSession"
            case .asyncHTTPClient: "async-http-client"
            }
        }
    }

    static let configuration = CommandConfiguration(commandName: "gets", shouldDisplay: false)

    @Argument var port: Int
    @Option var inFlight: Int
    @Option var rounds: Int
    @Option var turnMilliseconds: Int
    @Option var clients: [Client] = Client.allCases

    func run() async throws {
        guard let url = URL(string: "https://127.0.0.1:\(port)/small") else { throw ValidationError("no URL") }
        var rates = Contest()
        var times: [String: [Double]] = [:]
        for client in clients {
            let get = try await checked(client, url)
            rates.add(client.name) {
                let clock = ContinuousClock()
                let (start, processorStart) = (clock.now, ProcessorTime.now)
                let rate = try await Rate.perSecond(inFlight: inFlight, for: .milliseconds(turnMilliseconds)) {
                    keep(try await get.value())
                }
                let count = rate * (clock.now - start).seconds
                times[client.name, default: []].append((ProcessorTime.now - processorStart) * 1e6 / count)
                return rate
            }
        }
        let samples = try await rates.run(rounds: rounds)
        // Here, too, the first turn of each client does not count.
        let counted = times.mapValues { Array($0.dropFirst()) }
        try ChildCommand.report(Reading(perSecond: samples, microseconds: Samples(byName: counted)))
    }

    private func checked(_ client: Client, _ url: URL) async throws -> any SmallGet {
        let get: any SmallGet =
            switch client {
            case .ours: ConnectorGet(SystemProvider(), scheme: .https, port: port)
            case .urlSession: URLSessionGet(session: .shared, url: url)
            case .asyncHTTPClient: AsyncHTTPClientGet(url: url)
            }
        try await get.check()
        return get
    }
}

/// A contest of small GETs over TLS, as the goals describe it.
struct SecureContest {
    let port: Int
    let inFlight: Int
    let clients: [SecureGetsCommand.Client]

    /// Runs it in a child process.
    func run(_ nginx: NginxServer, on bench: Bench) throws -> SecureGetsCommand.Reading {
        let arguments = [
            "gets", "\(port)", "--in-flight", "\(inFlight)", "--rounds", "\(bench.rounds)",
            "--turn-milliseconds", "\(Int(bench.turn.seconds * 1000))",
        ]
        return try Program.child(
            arguments + clients.flatMap { ["--clients", $0.rawValue] },
            environment: nginx.trustingEnvironment
        )
    }

    /// Adds each client's rate and processor time per request.
    func addFigures(of reading: SecureGetsCommand.Reading, to outcome: inout Outcome) {
        for client in clients {
            let name = "\(inFlight) in flight, \(client.name)"
            outcome.add(Figure(name, reading.perSecond.median(client.name), .perSecond))
            outcome.add(Figure("\(name), processor", reading.microseconds.median(client.name), .microseconds))
        }
    }

    /// The ratio of this library to a rival.
    func check(_ reading: SecureGetsCommand.Reading, against rival: SecureGetsCommand.Client, atLeast goal: Double)
        -> Check
    {
        let ratio = reading.perSecond.ratio(SecureGetsCommand.Client.ours.name, to: rival.name)
        return Check("\(inFlight) in flight, × \(rival.name)", ratio, atLeast: goal)
    }
}
