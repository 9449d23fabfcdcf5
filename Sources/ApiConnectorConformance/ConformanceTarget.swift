// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import ApiConnectorTesting

/// A provider under test, and how the cases answer its requests.
///
/// ```swift
/// @Test func keepsThePromisesOfATransport() async {
///     let report = await ConformanceTarget.transport { MyTransport() }.check()
///     #expect(report.isPassed, "\(report)")
/// }
/// ```
public struct ConformanceTarget: Sendable {
    /// The name in the report.
    public let name: String

    private let hasWire: Bool
    private let open: @Sendable (PeerAnswers) async throws -> (provider: any DataRequestType, side: any ConformancePeer)

    /// A provider that sends requests over a network.
    ///
    /// Each case runs its own server on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - name: The name in the report; the provider's type by default.
    ///   - makeProvider: Makes the provider, once for each case.
    public static func transport<Provider: DataRequestType>(
        named name: String? = nil,
        _ makeProvider: @escaping @Sendable () throws -> Provider
    ) -> ConformanceTarget {
        ConformanceTarget(name: name ?? "\(Provider.self)", hasWire: true) { answers in
            (try makeProvider(), try WirePeer(answers))
        }
    }

    /// A provider that returns canned answers.
    ///
    /// The cases that need a connection are excluded automatically.
    ///
    /// - Parameters:
    ///   - name: The name in the report; the provider's type by default.
    ///   - makeProvider: Makes the provider from a case's answers, once for each case.
    public static func testDouble<Provider: DataRequestType>(
        named name: String? = nil,
        _ makeProvider: @escaping @Sendable (ConformanceAnswers) async throws -> Provider
    ) -> ConformanceTarget {
        served(named: name) { answers in
            (try await makeProvider(answers), URL(string: "http://conformance.example/") ?? URL(filePath: "/"))
        }
    }

    /// A provider that sends requests to your own server, which returns canned answers.
    ///
    /// - Parameters:
    ///   - name: The name in the report; the provider's type by default.
    ///   - makeServer: Starts a server with a case's answers, once for each case, and returns a provider with the URL
    ///     to send to. Stop the server when the provider is released.
    public static func served<Provider: DataRequestType>(
        named name: String? = nil,
        _ makeServer: @escaping @Sendable (ConformanceAnswers) async throws -> (provider: Provider, url: URL)
    ) -> ConformanceTarget {
        ConformanceTarget(name: name ?? "\(Provider.self)", hasWire: false) { answers in
            let side = ConformanceAnswers(answers)
            let (provider, url) = try await makeServer(side)
            side.serve(at: url)
            return (provider, side)
        }
    }

    /// Runs the cases and reports the outcome of each.
    ///
    /// Up to 4 cases run at the same time. No case sleeps. Real time is used only for limits.
    ///
    /// - Parameters:
    ///   - cases: The cases to run; all by default.
    ///   - exclusions: The names of the cases to skip, each with its reason. An unknown name or an empty reason makes
    ///     the report fail.
    ///   - limit: The longest duration of one case, including the creation of its provider; one minute by default. A
    ///     case that takes longer fails.
    public func check(
        _ cases: [ConformanceCase] = ConformanceCase.all,
        excluding exclusions: [String: String] = [:],
        within limit: Duration = .seconds(60)
    ) async -> ConformanceReport {
        let names = Set(ConformanceCase.all.map(\.name))
        var flaws: [String] = []
        for (name, reason) in exclusions.sorted(by: { $0.key < $1.key }) {
            if !names.contains(name) { flaws.append("the excluded case “\(name)” does not exist") }
            if reason.allSatisfy(\.isWhitespace) { flaws.append("the exclusion of “\(name)” has no reason") }
        }
        let outcomes = await withTaskGroup(of: (Int, ConformanceReport.Outcome).self) { group in
            var outcomes: [Int: ConformanceReport.Outcome] = [:]
            for (index, conformanceCase) in cases.enumerated() {
                if index >= Self.concurrentCount, let (index, outcome) = await group.next() {
                    outcomes[index] = outcome
                }
                group.addTask {
                    (
                        index,
                        await outcome(of: conformanceCase, excluded: exclusions[conformanceCase.name], within: limit)
                    )
                }
            }
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
        let entries = cases.indices.map { index in
            ConformanceReport.Entry(
                name: cases[index].name,
                topic: cases[index].topic,
                outcome: outcomes[index] ?? .failed("the case was not run")
            )
        }
        return ConformanceReport(target: name, entries: entries, flaws: flaws)
    }

    /// The number of cases that run at the same time.
    private static let concurrentCount = 4

    private func outcome(
        of conformanceCase: ConformanceCase,
        excluded reason: String?,
        within limit: Duration
    ) async -> ConformanceReport.Outcome {
        if let reason { return .excluded(reason) }
        if conformanceCase.needsWire, !hasWire {
            return .excluded("the case needs bytes on a connection, and this target has no connection")
        }
        do {
            try await run(conformanceCase, within: limit)
            return .passed
        } catch {
            return .failed("\(error)")
        }
    }

    /// Runs a case, and abandons it after its limit.
    private func run(_ conformanceCase: ConformanceCase, within limit: Duration) async throws {
        let opened = Eventual<any ConformancePeer>()
        let end = Eventual<Result<Void, any Error>>()
        let running = Task {
            do {
                // The limit also applies to this call, because it runs the user's code.
                let (provider, side) = try await open(conformanceCase.answers)
                opened.set(side)
                try await conformanceCase.check(ConformanceProbe(provider: provider, side: side))
                end.set(.success(()))
            } catch {
                end.set(.failure(error))
            }
        }
        defer {
            running.cancel()
            opened.whenSet { $0.stop() }
        }
        try await end.value(within: limit, orSay: "the case did not end").get()
    }
}
