// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// The failover against a model, over calls one after the other, and over random interleavings of calls, answers,
/// cancels and steps of the clock.
@Suite(.timeLimit(.minutes(10))) struct FailoverModelTests {}

extension FailoverModelTests {
    private static let runCount = max(SplitMix64.caseCount / 10, 1)

    @Test func aModelAgreesOverRandomHosts() async {
        await SplitMix64.runs(Self.runCount) { random in
            var model = FailoverModel(&random)
            try await model.run(&random)
        }
    }

    @Test func invariantsHoldInEveryInterleaving() async {
        await SplitMix64.runs(Self.runCount) { random in try await interleave(&random) }
    }

    private struct Call: Sendable {
        let own: String
        let method: HTTPMethod
        let task: Task<Result<ApiResponse, ApiConnectorError>, Never>
    }

    private func interleave(_ random: inout SplitMix64) async throws {
        let clock = ManualClock()
        let timers = TimerQueue.on(clock)
        let server = HeldServer()
        let names = ["a", "b", "c"]
        let provider = server.failingOver(to: names.compactMap { URL(string: "http://\($0)") }, for: .seconds(5))
        var calls: [Call] = []
        var canceled: Set<Int> = []
        /// The test's answer to each request.
        var answers: [Int: Ending] = [:]
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let own = names.randomElement(using: &random) ?? "a"
                let method: HTTPMethod = Bool.random(using: &random) ? .get : .post
                let request = ApiRequest.made(own, method, path: "/\(calls.count)", on: timers)
                calls.append(Call(own: own, method: method, task: Task { await provider.result(for: request) }))
            case 4..<8:
                guard let number = server.held.randomElement(using: &random), answers[number] == nil else { continue }
                let ending = Ending.allCases.randomElement(using: &random) ?? .fine
                answers[number] = ending
                server.answer(number, ending.heldAnswer)
            case 8:
                guard let number = calls.indices.randomElement(using: &random) else { continue }
                canceled.insert(number)
                calls[number].task.cancel()
            default:
                clock.advance(by: .milliseconds(Int.random(in: 0...4000, using: &random)))
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        }
        server.calmDown()
        var results: [Result<ApiResponse, ApiConnectorError>] = []
        for call in calls { results.append(await call.task.value) }
        try #require(server.open.isEmpty)
        try await timers.becomesEmpty()
        let requests = Array(server.requests.enumerated())
        for (number, (call, result)) in zip(calls, results).enumerated() {
            let sent = requests.filter { $0.element.url.path() == "/\(number)" }
            let hosts = sent.compactMap { $0.element.url.host() }
            // No host is asked twice, and another only where the one before did not answer.
            try #require(Set(hosts).count == hosts.count)
            for (index, _) in sent.dropLast() {
                let ending = answers[index] ?? .fine
                try #require(ending.isFailure)
                try #require(call.method == .get || ending == .unreachable)
            }
            guard !canceled.contains(number) else { continue }
            // The others are not asked for nothing, and the last has the word.
            let last = try #require(sent.last.map { answers[$0.offset] ?? .fine })
            let mayGoOn = last.isFailure && (call.method == .get || last == .unreachable)
            try #require(!mayGoOn || hosts.count == names.count)
            switch result {
            case .success(let response): try #require(response.status == last.status)
            case .failure(let error): try #require(error.kind == last.kind)
            }
        }
        // Once it is over, each is asked in its turn again.
        clock.advance(by: .seconds(5))
        for name in names {
            let before = server.requests.count
            try #require(await provider.result(for: .made(name, on: timers)).failure == nil)
            try #require(server.requests.dropFirst(before).map { $0.url.host() } == [name])
        }
    }
}

private enum Ending: CaseIterable {
    case fine, unreachable, broken, unwell, refused

    var answer: TestConnectorResponse { kind.map { .failing($0) } ?? .status(status) }

    var heldAnswer: HeldServer.Answer { kind.map { .failure($0) } ?? .status(status) }

    var kind: ApiConnectorError.Kind? {
        switch self {
        case .unreachable: .cannotConnect
        case .broken: .connectionLost
        case .fine, .unwell, .refused: nil
        }
    }

    var status: HTTPStatus {
        switch self {
        case .unwell: 502
        case .refused: 403
        case .fine, .unreachable, .broken: 200
        }
    }

    var isFailure: Bool { self == .unreachable || self == .broken || self == .unwell }
}

/// One provider, a few calls one after the other, and a list of the failed hosts with their times.
private struct FailoverModel {
    private let clock = ManualClock()
    private let timers: TimerQueue
    private let names: [String]
    private var failedTimes: [String: Duration] = [:]

    init(_ random: inout SplitMix64) {
        timers = TimerQueue.on(clock)
        names = Array(["a", "b", "c", "d"].prefix(Int.random(in: 1...4, using: &random)))
    }

    mutating func run(_ random: inout SplitMix64) async throws {
        let endings = Locked<[String: Ending]>([:])
        let sent = Locked<[String]>([])
        let provider = TestConnector { request in
            let name = request.url.host() ?? ""
            sent.withLock { $0.append(name) }
            return endings.withLock { $0[name] ?? .fine }.answer
        }
        .failingOver(to: names.compactMap { URL(string: "http://\($0)") }, for: .seconds(10))
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let drawn = names.map { ($0, Ending.allCases.randomElement(using: &random) ?? .fine) }
            let table = Dictionary(drawn) { first, _ in first }
            endings.withLock { $0 = table }
            sent.withLock { $0 = [] }
            let method: HTTPMethod = Bool.random(using: &random) ? .get : .post
            let own = names.randomElement(using: &random) ?? "a"
            let result = await provider.result(for: .made(own, method, on: timers))
            let expected = expectedHosts(from: own, method, table)
            try #require(sent.withLock { $0 } == expected)
            let last = table[expected.last ?? ""] ?? .fine
            try #require(result.failure?.kind == last.kind)
            clock.advance(by: .seconds(Int.random(in: 0...8, using: &random)))
        }
    }

    private mutating func expectedHosts(
        from own: String,
        _ method: HTTPMethod,
        _ table: [String: Ending]
    ) -> [String] {
        let order = [own] + names.filter { $0 != own }
        let late = order.filter { name in failedTimes[name].map { $0 + .seconds(10) > clock.now } ?? false }
        var asked: [String] = []
        for name in order.filter({ !late.contains($0) }) + late {
            asked.append(name)
            let ending = table[name] ?? .fine
            failedTimes[name] = ending.isFailure ? clock.now : nil
            guard ending.isFailure, method.isIdempotent || ending == .unreachable else { break }
        }
        return asked
    }
}
