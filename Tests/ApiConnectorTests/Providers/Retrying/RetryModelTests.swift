// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// Checks rules that hold for random calls, failures, cancellations and steps of the clock, interleaved.
@Suite(.timeLimit(.minutes(10))) struct RetryModelTests {}

extension RetryModelTests {
    /// 10,000 runs in release, a fiftieth in debug.
    private static let runCount = max(SplitMix64.caseCount / 10, 1)

    @Test func invariantsHoldInEveryInterleaving() async throws {
        await SplitMix64.runs(Self.runCount) { random in try await Interleaving(&random).run(&random) }
    }
}

/// One attempt.
private struct Sending: Sendable {
    let call: Int
    let attempt: Int
    let method: HTTPMethod
    let host: String
    let key: String?
    let earlier: [AttemptSummary]
    /// How it failed before its head; nil where it did not.
    var failure: ApiConnectorError.Kind?
}

private final class Interleaving: Sendable {
    /// The properties of one call.
    struct Call: Sendable {
        let number: Int
        let method: HTTPMethod
        let host: String
        let deadline: Duration?
        let isStreamed: Bool
        let body: RequestBody
        let hasKey: Bool
    }

    private let clock = ManualClock()
    private let timers: TimerQueue
    private let policy: RetryPolicy
    private let timeouts: Timeouts
    let sendings = Locked<[Sending]>([])
    private let chance: Locked<SplitMix64>

    init(_ random: inout SplitMix64) {
        timers = TimerQueue.on(clock)
        chance = Locked(SplitMix64(seed: random.next()))
        let draws = Locked(SplitMix64(seed: random.next()))
        let makeKey: @Sendable () -> String = { UUID().uuidString }
        let budget = RetryBudget(
            burstCount: Int.random(in: 0...4, using: &random),
            share: Double(Int.random(in: 0...2, using: &random)) / 4,
            countPerSecond: Bool.random(using: &random) ? 0.5 : 0
        )
        policy = RetryPolicy(
            maximumAttemptCount: Int.random(in: 1...5, using: &random),
            maximumDuration: Self.seconds(1...40, &random),
            initialDelay: .seconds(1),
            maximumDelay: .seconds(4),
            maximumRetryAfter: .seconds(6),
            budget: budget,
            idempotencyKey: Bool.random(using: &random) ? makeKey : nil,
            random: { draws.withLock { Double.random(in: 0..<1, using: &$0) } }
        )
        timeouts = Timeouts(attempt: Self.seconds(1...5, &random), stall: Self.seconds(3...3, &random))
    }

    /// A number of seconds, or no limit.
    private static func seconds(_ range: ClosedRange<Int>, _ random: inout SplitMix64) -> Duration? {
        Bool.random(using: &random) ? .seconds(Int.random(in: range, using: &random)) : nil
    }

    func run(_ random: inout SplitMix64) async throws {
        let calls = (0..<Int.random(in: 1...5, using: &random)).map { call($0, &random) }
        let provider = Noting(wrapped: TestConnector { [self] in answer($0) }, sendings: self).retrying(policy)
        let tasks = calls.map { call in
            Task { [self] in await outcome(of: call, over: provider) }
        }
        var canceled: Set<Int> = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let call = Int.random(in: 0..<calls.count, using: &random)
                canceled.insert(call)
                tasks[call].cancel()
            case 1..<4:
                await Task.yield()
            default:
                clock.advance(by: .milliseconds(Int.random(in: 0...3_000, using: &random)))
            }
        }
        // All waits end when time goes on, and silence is ended by the end of this test.
        let mover = Task { [clock] in
            while true {
                let length = try await clock.nextSleep(within: .seconds(Int64.max))
                clock.advance(by: length)
            }
        }
        var results: [Result<ApiResponse, ApiConnectorError>] = []
        for task in tasks { results.append(await task.value) }
        mover.cancel()
        _ = await mover.result
        try check(calls, results, canceled)
        try await timers.becomesEmpty()
    }

    private func call(_ number: Int, _ random: inout SplitMix64) -> Call {
        let methods: [HTTPMethod] = [.get, .put, .post, .patch]
        let bodies: [RequestBody] = [
            .empty, .text("again"), .stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } },
        ]
        return Call(
            number: number,
            method: methods[Int.random(in: 0..<methods.count, using: &random)],
            host: ["one.example.com", "two.example.com"][Int.random(in: 0...1, using: &random)],
            deadline: Self.seconds(1...20, &random),
            isStreamed: Bool.random(using: &random),
            body: bodies[Int.random(in: 0..<bodies.count, using: &random)],
            hasKey: Int.random(in: 0..<4, using: &random) == 0
        )
    }

    private func outcome(
        of call: Call,
        over provider: some DataRequestType
    ) async -> Result<ApiResponse, ApiConnectorError> {
        var request = ApiRequest(
            url: URL(string: "http://\(call.host)/\(call.number)") ?? URL(filePath: ""),
            method: call.method,
            body: call.body,
            delivery: call.isStreamed ? .streamed : .standard
        )
        if call.hasKey { request.headers[.idempotencyKey] = "own \(call.number)" }
        request.deadline = call.deadline
        request.timers = timers
        return await Result { [request] () async throws(ApiConnectorError) in
            let response = try await provider.attempt(request, within: timeouts)
            // A stream is read to its end, or breaks off then.
            if call.isStreamed { _ = try await response.body.collect(upTo: 100) }
            return response
        }
    }

    /// The server: fails or answers by chance.
    private func answer(_ request: ApiRequest) -> TestConnectorResponse {
        let kinds: [ApiConnectorError.Kind] = [.connectionLost, .cannotConnect, .malformedResponse]
        let choice = chance.withLock { Int.random(in: 0..<11, using: &$0) }
        switch choice {
        case 0..<3: return .failing(kinds[choice])
        case 3: return .status(503)
        case 4: return .status(429, headers: ["Retry-After": "2"])
        case 5: return .chunks([Data("half".utf8)]).failing(.afterByteCount(0))
        case 6: return .chunks([Data("half".utf8)]).failing(.afterByteCount(2))
        case 7: return .failing(.connectionLost).after(.seconds(2), on: clock)
        case 8: return .fine.after(.seconds(1), on: clock)
        default: return .fine
        }
    }

    private func check(
        _ calls: [Call],
        _ results: [Result<ApiResponse, ApiConnectorError>],
        _ canceled: Set<Int>
    ) throws {
        let all = sendings.withLock { $0 }
        for call in calls {
            let own = all.filter { $0.call == call.number }
            // A call whose time is up before its first attempt is not sent at all.
            let isPerhapsUnsent = canceled.contains(call.number) || call.deadline != nil || timeouts.attempt != nil
            try #require(!own.isEmpty || isPerhapsUnsent)
            try #require(own.map(\.attempt) == Array(1..<own.count + 1))
            try #require(own.count <= policy.maximumAttemptCount)
            // One key for all attempts, and no key unless requested.
            try #require(Set(own.map(\.key)).count <= 1)
            for (sending, next) in zip(own, own.dropFirst()) {
                let isRepeatable = call.method.isIdempotent || sending.key != nil
                try #require(isRepeatable || sending.failure == .cannotConnect, "\(sending) was repeated")
                try #require(call.body.isReplayable, "\(sending) was repeated with a body that comes once")
                try #require(sending.failure != .malformedResponse, "\(sending) was repeated")
                // When it was due; the clock may have been moved further than that.
                let due = next.earlier.reduce(.zero) { $0 + $1.duration + $1.wait }
                if let deadline = call.deadline { try #require(due < deadline, "\(next) came past the deadline") }
                if let maximum = policy.maximumDuration { try #require(due <= maximum, "\(next) came too late") }
                try #require(next.earlier.count == sending.attempt)
            }
            switch results[call.number] {
            case .success(let response):
                // Every caller gets the answer to its own last attempt, and knows what came before.
                let sent = response.request
                try #require(sent.url.lastPathComponent == "\(call.number)" && sent.attempt == own.last?.attempt)
                try #require(sent.earlierAttempts.count == own.count - 1)
            case .failure(let error):
                try #require(error.earlierAttempts.count <= max(own.count, 1))
                // No call waits for an attempt that would start too late.
                let due = error.earlierAttempts.reduce(.zero) { $0 + $1.duration + $1.wait }
                if let deadline = call.deadline { try #require(due < deadline, "a useless wait") }
                try #require(error.kind != .cancelled || canceled.contains(call.number))
            }
        }
        // No host gets more retries than its budget: the burst, and the tokens that calls and time add.
        for host in Set(all.map(\.host)) {
            let own = all.filter { $0.host == host }
            let retryCount = own.count { $0.attempt > 1 }
            let callCount = calls.count { $0.host == host }
            let earned =
                Double(policy.budget.burstCount) + policy.budget.share * Double(callCount)
                + policy.budget.countPerSecond * (clock.now / .seconds(1))
            try #require(Double(retryCount) <= earned + 0.001, "\(retryCount) retries of \(host), and \(earned) earned")
        }
    }
}

/// Notes each attempt, and how it failed.
private struct Noting<Wrapped: DataRequestType>: DataRequestType {
    let wrapped: Wrapped
    let sendings: Interleaving

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let sending = Sending(
            call: Int(request.url.lastPathComponent) ?? -1,
            attempt: request.attempt,
            method: request.method,
            host: request.url.host() ?? "",
            key: request.headers[.idempotencyKey],
            earlier: request.earlierAttempts
        )
        let index = sendings.sendings.withLock { sendings in
            sendings.append(sending)
            return sendings.count - 1
        }
        do throws(ApiConnectorError) {
            return try await wrapped.response(for: request)
        } catch {
            sendings.sendings.withLock { $0[index].failure = error.kind }
            throw error
        }
    }
}
