// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider under test, and how the answers of the cases reach it.
///
/// ```swift
/// @Test func keepsThePromisesOfATransport() async {
///     let report = await ConformanceTarget.transport { MyTransport() }.check()
///     #expect(report.isPassed, "\(report)")
/// }
/// ```
public struct ConformanceTarget: Sendable {
    /// What the report calls it.
    public let name: String

    private let hasWire: Bool
    private let open: @Sendable (PeerAnswers) async throws -> (provider: any DataRequestType, side: any ConformancePeer)

    /// A provider that sends: each case has its own server on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - name: What the report calls it; the provider's type by default.
    ///   - makeProvider: Makes the provider, once for each case.
    public static func transport<Provider: DataRequestType>(
        named name: String? = nil,
        _ makeProvider: @escaping @Sendable () throws -> Provider
    ) -> ConformanceTarget {
        ConformanceTarget(name: name ?? "\(Provider.self)", hasWire: true) { answers in
            (try makeProvider(), try WirePeer(answers))
        }
    }

    /// A provider that is handed canned answers; the cases about bytes and connections are excluded by themselves.
    ///
    /// - Parameters:
    ///   - name: What the report calls it; the provider's type by default.
    ///   - makeProvider: Makes the provider of a case's answers, once for each case.
    public static func testDouble<Provider: DataRequestType>(
        named name: String? = nil,
        _ makeProvider: @escaping @Sendable (ConformanceAnswers) async throws -> Provider
    ) -> ConformanceTarget {
        served(named: name) { answers in
            (try await makeProvider(answers), URL(string: "http://conformance.example/") ?? URL(filePath: "/"))
        }
    }

    /// A provider that sends to a server of yours, which returns canned answers.
    ///
    /// - Parameters:
    ///   - name: What the report calls it; the provider's type by default.
    ///   - makeServer: Starts a server of a case's answers, once for each case, and gives a provider with the URL to
    ///     send to. The server stops when nobody has the provider any more.
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

    /// Runs the cases, and says what became of each.
    ///
    /// They run a few at a time, and never wait for a time to pass but as a limit.
    ///
    /// - Parameters:
    ///   - cases: Which; all by default.
    ///   - exclusions: The names of cases that are not to be run, each with its reason. A name that no case has and a
    ///     reason that is empty make the report fail.
    ///   - limit: The longest that one case may take, the making of its provider included; past it the case has failed.
    ///     One minute by default.
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

    /// How many cases run at a time.
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

    /// Runs a case and leaves it behind when its limit has passed.
    private func run(_ conformanceCase: ConformanceCase, within limit: Duration) async throws {
        let opened = Eventual<any ConformancePeer>()
        let end = Eventual<Result<Void, any Error>>()
        let running = Task {
            do {
                // In time as well: it is the caller's code.
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
