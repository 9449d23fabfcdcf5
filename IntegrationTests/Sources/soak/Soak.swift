// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import MisbehavingServer
import Support
import Synchronization

/// Makes many calls, with a fixed number in flight.
///
/// Each call must end once and with the expected result.
final class Soak: Sendable {
    private let requestCount: Int
    private let server: MisbehavingServer
    private let provider = CurlProvider(configuration: CurlConfiguration())
    private let connection: NetworkConnector<CurlProvider, AnyRoute>
    private let next = Atomic(0)
    /// The number of calls that have ended.
    let endedCount = Atomic(0)
    private let records = Mutex(Records())

    init(_ requestCount: Int, over server: MisbehavingServer) {
        self.requestCount = requestCount
        self.server = server
        connection = NetworkConnector(environment: .loopback, provider: provider)
    }

    /// The results of the calls.
    struct Records {
        var counts: [String: Int] = [:]
        /// The times from a cancellation or a stall timeout to the call's end, and the times of short calls, in
        /// milliseconds.
        var delays: [String: [Double]] = [:]
        var surprises: [String] = []
    }

    var result: Records { records.withLock { $0 } }

    /// Makes calls until `count` calls were started in total.
    func run(until count: Int, inFlight: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<inFlight {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(worker) &* 1_000_003 &+ UInt64(count))
                    while true {
                        let number = self.next.add(1, ordering: .relaxed).oldValue
                        guard number < count else { break }
                        await self.makeCall(number, &random)
                        self.endedCount.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        next.store(min(count, requestCount), ordering: .relaxed)
    }

    private func makeCall(_ number: Int, _ random: inout SplitMix64) async {
        switch number % 10 {
        case 0:
            let behavior = Behavior.misbehaviors[number / 10 % Behavior.misbehaviors.count]
            await expectFailure(behavior)
        case 1:
            await cancelSomewhere(&random)
        case 2:
            await expect("large") { try await self.bodyByteCount(.large) == Behavior.largeByteCount }
        case 3:
            await expect("streamed") { try await self.streamedByteCount(.large) == Behavior.largeByteCount }
        case 4:
            await expect("sent") { try await self.sentByteCount(2000) == 2000 }
        default:
            let start = ContinuousClock.now
            await expect("short") { try await self.bodyByteCount(.short) == Behavior.shortBody.utf8.count }
            note(delay: ContinuousClock.now - start, of: "short")
        }
    }

    // MARK: Calls

    private func bodyByteCount(_ behavior: Behavior) async throws -> Int {
        try await connection.data(at: server.url(behavior)).count
    }

    private func sentByteCount(_ byteCount: Int) async throws -> Int? {
        let body = RequestBody.data(Data(count: byteCount))
        let answer = try await connection.data(at: server.url(.measure), method: .post, body: body)
        return Int(String(decoding: answer, as: UTF8.self))
    }

    private func streamedByteCount(_ behavior: Behavior) async throws -> Int {
        var request = ApiRequest(url: server.url(behavior))
        request.delivery = .streamed
        var byteCount = 0
        for try await chunk in try await provider.response(for: request).body { byteCount += chunk.count }
        return byteCount
    }

    // MARK: Outcomes

    private func expect(_ name: String, _ call: () async throws -> Bool) async {
        do {
            note(name, try await call() ? nil : "\(name): the body differs")
        } catch {
            note(name, "\(name): \(error)")
        }
    }

    private func expectFailure(_ behavior: Behavior) async {
        let expected = behavior.kind
        let stall: Duration = expected == .stalled ? .milliseconds(50) : .seconds(60)
        let limits = CallOptions(timeouts: Timeouts(stall: stall))
        let start = ContinuousClock.now
        do {
            let body = try await connection.data(at: server.url(behavior), options: limits)
            note("\(behavior)", "\(behavior): \(body.count) bytes instead of an error")
        } catch {
            note("\(behavior)", error.kind == expected ? nil : "\(behavior): \(error)")
            // If the server sends nothing, the stall timeout begins with the request.
            if behavior == .silence { note(delay: ContinuousClock.now - start - stall, of: "stall") }
        }
    }

    private func cancelSomewhere(_ random: inout SplitMix64) async {
        let kinds: [@Sendable () async throws -> Int] = [
            { try await self.bodyByteCount(.short) }, { try await self.bodyByteCount(.large) },
            { try await self.bodyByteCount(.late) }, { try await self.streamedByteCount(.large) },
            { try await self.bodyByteCount(.silence) },
        ]
        let kind = Int.random(in: 0..<kinds.count, using: &random)
        let call = Task { [operation = kinds[kind]] in try await operation() }
        if Bool.random(using: &random) {
            for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
        } else {
            try? await Task.sleep(for: .microseconds(Int.random(in: 0..<15_000, using: &random)))
        }
        let start = ContinuousClock.now
        call.cancel()
        let result = await call.result
        note(delay: ContinuousClock.now - start, of: "cancel")
        switch result {
        case .success: note("canceled too late", kind == 4 ? "a body although the server is silent" : nil)
        case .failure(let error):
            let isCancelled = (error as? ApiConnectorError)?.kind == .cancelled
            note("cancelled", isCancelled ? nil : "cancelled: \(error)")
        }
    }

    private func note(delay: Duration, of way: String) {
        records.withLock { $0.delays[way, default: []].append(delay / .milliseconds(1)) }
    }

    private func note(_ name: String, _ surprise: String?) {
        records.withLock { records in
            records.counts[name, default: 0] += 1
            if let surprise { records.surprises.append(surprise) }
        }
    }
}

extension Behavior {
    /// The expected error of a call.
    var kind: ApiConnectorError.Kind? {
        switch self {
        case .reset, .resetInside, .truncated, .truncatedChunks: .connectionLost
        case .badChunk, .garbage: .malformedResponse
        case .silence, .silenceInside: .stalled
        case .short, .large, .measure, .late, .guarded: nil
        case .refused: .unacceptableStatus
        }
    }
}

/// Percentiles of times in milliseconds.
struct Percentiles: CustomStringConvertible {
    private let median: Double
    /// 95 of 100 times are at most this long.
    let high: Double

    init(_ milliseconds: [Double]) {
        let sorted = milliseconds.sorted()
        median = sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        high = sorted.isEmpty ? 0 : sorted[sorted.count * 95 / 100]
    }

    var description: String { String(format: "median %.1f ms, 95 of 100 within %.1f ms", median, high) }

    /// Whether limits end their calls soon enough, compared with the short calls beside them.
    ///
    /// A busy machine or loop delays both. A short call takes more turns of the loop than the end of a limit.
    func isSoon(after shortCalls: Percentiles) -> Bool { high <= 50 + 2 * shortCalls.high }
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
#endif
