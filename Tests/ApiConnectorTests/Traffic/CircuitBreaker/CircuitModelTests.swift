// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// A circuit against a model that keeps everything in lists, and the provider over random interleavings.
@Suite(.timeLimit(.minutes(10))) struct CircuitModelTests {}

extension CircuitModelTests {
    private static let runCount = max(SplitMix64.caseCount / 10, 1)

    @Test func aCircuitDoesWhatTheModelDoes() async {
        await SplitMix64.runs(Self.runCount) { random in
            var pair = CircuitPair(
                CircuitPolicy(
                    failureShare: Double(Int.random(in: 1...4, using: &random)) / 4,
                    window: .seconds(10),
                    minimumCount: Int.random(in: 1...5, using: &random),
                    openDuration: .seconds(Int.random(in: 0...6, using: &random)),
                    probeCount: Int.random(in: 1...3, using: &random)
                )
            )
            for _ in 0..<Int.random(in: 10...80, using: &random) { try pair.step(&random) }
        }
    }

    @Test func everyCallIsAnsweredAndEveryCircuitTriesItsHostAgain() async {
        await SplitMix64.runs(Self.runCount) { random in try await interleave(&random) }
    }

    private func interleave(_ random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let timers = TimerQueue.on(clock)
        let server = HeldServer()
        let recorder = EventRecorder()
        let probeCount = Int.random(in: 1...2, using: &random)
        let policy = CircuitPolicy(
            window: .seconds(10),
            minimumCount: Int.random(in: 1...4, using: &random),
            openDuration: .seconds(3),
            probeCount: probeCount
        )
        let provider = server.circuitBreaking(policy).observing(by: recorder)
        var calls: [Task<ApiConnectorError.Kind?, Never>] = []
        var canceled: Set<Int> = []
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let request = ApiRequest.made(on: timers)
                calls.append(Task { await provider.result(for: request).failure?.kind })
            case 4..<7:
                guard let number = server.held.randomElement(using: &random) else { continue }
                let answers: [HeldServer.Answer] = [.status(503), .failure(.cannotConnect), .status(200), .status(404)]
                server.answer(number, answers.randomElement(using: &random) ?? .status(200))
            case 7:
                guard let number = calls.indices.randomElement(using: &random) else { continue }
                canceled.insert(number)
                calls[number].cancel()
            default:
                clock.advance(by: .milliseconds(Int.random(in: 0...2000, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        server.calmDown()
        var refusedCount = 0
        for (number, call) in calls.enumerated() {
            let kind = await call.value
            if kind == .circuitOpen { refusedCount += 1 }
            try #require(kind != .cancelled || canceled.contains(number))
            try #require([nil, .circuitOpen, .cannotConnect, .cancelled].contains(kind))
        }
        // A refused request was not sent.
        try #require(server.requests.count <= calls.count - refusedCount)
        try #require(recorder.texts.count { $0 == "circuit: refused" } == refusedCount)
        // Whether or not earlier probes failed, a later probe reaches the host and closes the circuit.
        clock.advance(by: .seconds(3))
        for _ in 0...probeCount {
            try #require(await provider.result(for: .made(on: timers)).failure == nil)
        }
    }
}

/// The circuit, and what a list of all that happened says.
private struct CircuitPair {
    private struct Sent {
        let number: Int
        let era: Int
        let isProbe: Bool
    }

    private let policy: CircuitPolicy
    private var circuit: Circuit
    private var now: Duration = .zero
    private var inFlight: [Sent] = []

    // The model.
    private var era = 0
    private var outcomes: [(slice: Int, isFailure: Bool)] = []
    private var openTime: Duration?
    private var isProbing = false
    private var goodProbeCount = 0
    private var lastProbeTime: Duration?

    init(_ policy: CircuitPolicy) {
        self.policy = policy
        circuit = Circuit(policy)
    }

    mutating func step(_ random: inout SplitMix64) throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: try send()
        case 4..<8: try end(&random)
        default: now += .milliseconds(Int.random(in: 0...3000, using: &random))
        }
    }

    private mutating func send() throws {
        if let openTime, !isProbing, openTime + policy.openDuration <= now {
            isProbing = true
            goodProbeCount = 0
            lastProbeTime = nil
            era += 1
        }
        let probeCount = inFlight.count { $0.isProbe && $0.era == era }
        switch circuit.admit(now: now) {
        case .pass(let number):
            try #require(openTime == nil)
            inFlight.append(Sent(number: number, era: era, isProbe: false))
        case .probe(let number):
            let hangs = lastProbeTime.map { $0 + policy.openDuration <= now } ?? false
            try #require(isProbing && (probeCount + goodProbeCount < policy.probeCount || hangs))
            lastProbeTime = now
            inFlight.append(Sent(number: number, era: era, isProbe: true))
        case .refuse(let since, let until):
            try #require(since == openTime)
            try #require(until == since + policy.openDuration)
            try #require(!isProbing || probeCount + goodProbeCount >= policy.probeCount)
            try #require(!isProbing || lastProbeTime.map { $0 + policy.openDuration > now } ?? false)
        }
    }

    private mutating func end(_ random: inout SplitMix64) throws {
        guard let index = inFlight.indices.randomElement(using: &random) else { return }
        let sent = inFlight.remove(at: index)
        let outcomes: [Circuit.Outcome] = [.success, .failure, .failure, .nothing]
        let outcome = outcomes.randomElement(using: &random) ?? .nothing
        let event = circuit.record(outcome, of: sent.number, now: now)
        try #require(event == expected(outcome, of: sent))
    }

    private mutating func expected(_ outcome: Circuit.Outcome, of sent: Sent) -> CircuitEvent? {
        guard sent.era == era, outcome != .nothing else { return nil }
        if sent.isProbe {
            if outcome == .failure { return opened() }
            goodProbeCount += 1
            guard goodProbeCount == policy.probeCount else { return nil }
            era += 1
            openTime = nil
            isProbing = false
            goodProbeCount = 0
            outcomes = []
            return .closed
        }
        let slice = Int(now / .seconds(1))
        outcomes.append((slice, outcome == .failure))
        let seen = outcomes.filter { $0.slice > slice - 10 }
        let failureCount = seen.count { $0.isFailure }
        guard outcome == .failure, seen.count >= policy.minimumCount,
            Double(failureCount) >= policy.failureShare * Double(seen.count)
        else { return nil }
        return opened()
    }

    private mutating func opened() -> CircuitEvent {
        era += 1
        openTime = now
        isProbing = false
        goodProbeCount = 0
        outcomes = []
        return .opened
    }
}
