// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

struct SharedTokensOfTest: Codable, Sendable, Equatable {
    var refresh: Int
    var expiry: Date?

    var credential: ApiCredential { .bearer("t\(refresh)", until: expiry) }
}

/// A server that rotates refresh tokens, and revokes all of them when one is used twice.
final class RotatingServer: Sendable {
    private struct State {
        var current = 1
        var used: [Int] = []
    }

    private let state = Locked(State())

    /// The refresh tokens that came, in order.
    var used: [Int] { state.withLock { $0.used } }
    var current: Int { state.withLock { $0.current } }
    var isRevoked: Bool { Set(used).count != used.count }

    func refresh(_ old: SharedTokensOfTest?) -> SharedTokensOfTest {
        state.withLock { state in
            state.used.append(old?.refresh ?? 0)
            state.current += 1
            return SharedTokensOfTest(refresh: state.current)
        }
    }

    var provider: TestConnector<ClosureResponses> {
        TestConnector { [self] request in
            request.headers[.authorization] == "Bearer t\(current)"
                ? .data(Data("welcome".utf8)) : .data(Data(), status: 401)
        }
    }
}

/// A store that can go away.
final class UnreliableState: SharedState {
    private let current: Locked<MemorySharedState>
    private let failing = Locked<(Operation) -> Bool>({ _ in false })
    private let counts = Locked<[Operation: Int]>([:])
    private let gate = Locked<Gate?>(nil)
    private let isReplyLost = Locked(false)
    private let isEvicted = Locked(false)
    private let renewalGate = Locked<Gate?>(nil)
    private let readGate = Locked<Gate?>(nil)
    private let replyGates = Locked<[Operation: Gate]>([:])
    private let recordLimits = Locked<[Duration]>([])
    /// The data of all records that were written, of one key.
    private let written = Locked<[Data?]>([])

    enum Operation: Sendable {
        case record, replace, acquire, end, take, places, hold
    }

    init(_ state: MemorySharedState) {
        current = Locked(state)
    }

    private var state: MemorySharedState { current.withLock { $0 } }

    /// The store loses all that it has.
    func lose() {
        current.withLock { $0 = MemorySharedState() }
    }

    /// The store loses its last writes of a key, and has the record before them again.
    ///
    /// The key has no other records, and the first one was written when the store's clock was at zero.
    ///
    /// - Returns: The store with these writes.
    @discardableResult func rollBack(_ count: Int = 1, of key: SharedStateKey) -> MemorySharedState {
        let before = state
        let earlier = MemorySharedState(timeSource: ManualClock())
        let kept = written.withLock { written in
            written.removeLast(count)
            return written
        }
        for data in kept {
            let version = earlier.record(for: key, within: .zero).version
            _ = earlier.replaceRecord(with: data, for: key, ifVersion: version, lifetime: nil, within: .zero)
        }
        current.withLock { $0 = earlier }
        return before
    }

    /// The store has the writes again that it had lost.
    func restore(_ state: MemorySharedState) {
        current.withLock { $0 = state }
    }

    /// The store loses the data of its records, but not their versions.
    func evict() {
        isEvicted.withLock { $0 = true }
    }

    func fail(_ isFailing: @escaping @Sendable (Operation) -> Bool = { _ in true }) {
        failing.withLock { $0 = isFailing }
    }

    /// Makes operations wait for a gate, and then fail.
    func hang(at gate: Gate?) {
        self.gate.withLock { $0 = gate }
    }

    /// Makes `replaceRecord` fail after it has replaced the record.
    func loseReplies(_ isLost: Bool) {
        isReplyLost.withLock { $0 = isLost }
    }

    /// Delays `acquireLease` until a gate is open.
    ///
    /// If its task is canceled meanwhile, it fails at once, and the store still runs it when the gate opens.
    func delayLeases(until gate: Gate) {
        renewalGate.withLock { $0 = gate }
    }

    /// Delays `record` until a gate is open.
    func delayReads(until gate: Gate) {
        readGate.withLock { $0 = gate }
    }

    /// Delays the reply to the next operation of a kind until a gate is open; the operation has its effect before.
    func delayNextReply(to operation: Operation, until gate: Gate) {
        replyGates.withLock { $0[operation] = gate }
    }

    /// The time limits of the operations that read a record.
    var limits: [Duration] { recordLimits.withLock { $0 } }

    /// How many operations of a kind the store has done, or has failed to do.
    ///
    /// An operation is counted after its effect, because a test that has waited for the count relies on the effect. An
    /// operation that hangs, or a lease that waits for its gate, is counted when it begins.
    func count(of operation: Operation) -> Int { counts.withLock { $0[operation, default: 0] } }

    private func add(_ operation: Operation) {
        counts.withLock { $0[operation, default: 0] += 1 }
    }

    /// Does an operation, unless the store is away or hangs; counts it in all cases.
    private func perform<Value>(
        _ operation: Operation,
        _ body: (MemorySharedState) -> Value
    ) async throws(ApiConnectorError) -> Value {
        try await check(operation)
        let value = body(state)
        let gate = replyGates.withLock { $0.removeValue(forKey: operation) }
        add(operation)
        if let gate { try? await gate.opened() }
        return value
    }

    private func check(_ operation: Operation) async throws(ApiConnectorError) {
        if Task.isCancelled { throw ApiConnectorError(.cancelled, "the operation was canceled") }
        if let gate = gate.withLock({ $0 }) {
            add(operation)
            try? await gate.opened()
            throw .sharedStateUnavailable("the store did not answer")
        }
        guard failing.withLock({ $0(operation) }) else { return }
        add(operation)
        throw .sharedStateUnavailable("the store is away")
    }

    func record(for key: SharedStateKey, within limit: Duration) async throws(ApiConnectorError) -> SharedRecord {
        recordLimits.withLock { $0.append(limit) }
        if let gate = readGate.withLock({ $0 }) { try? await gate.opened() }
        let record = try await perform(.record) { $0.record(for: key, within: limit) }
        return isEvicted.withLock { $0 } ? SharedRecord(version: record.version, data: nil) : record
    }

    func replaceRecord(
        with data: Data?,
        for key: SharedStateKey,
        ifVersion version: UInt64,
        lifetime: Duration?,
        within limit: Duration
    ) async throws(ApiConnectorError) -> UInt64? {
        let new = try await perform(.replace) {
            let new = $0.replaceRecord(with: data, for: key, ifVersion: version, lifetime: lifetime, within: limit)
            guard new != nil else { return new }
            isEvicted.withLock { $0 = false }
            written.withLock { $0.append(data) }
            return new
        }
        if isReplyLost.withLock({ $0 }) { throw .sharedStateUnavailable("the reply is lost") }
        return new
    }

    func acquireLease(
        of key: SharedStateKey,
        owner: String,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedLease? {
        @Sendable func acquire(_ state: MemorySharedState) -> SharedLease? {
            state.acquireLease(of: key, owner: owner, for: duration, within: limit)
        }
        guard let gate = renewalGate.withLock({ $0 }) else { return try await perform(.acquire, acquire) }
        try await check(.acquire)
        add(.acquire)
        do {
            try await gate.opened()
        } catch {
            Task { [state] in
                try await gate.opened()
                _ = acquire(state)
            }
            throw ApiConnectorError(.cancelled, "the operation was canceled")
        }
        return acquire(state)
    }

    func endLease(_ lease: SharedLease, within limit: Duration) async throws(ApiConnectorError) {
        try await perform(.end) { $0.endLease(lease, within: limit) }
    }

    func takeTokens(
        _ count: Int,
        of key: SharedStateKey,
        at rate: RequestRate,
        ahead horizon: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedTokens {
        try await perform(.take) { $0.takeTokens(count, of: key, at: rate, ahead: horizon, within: limit) }
    }

    func takePlaces(
        _ wantedCount: Int,
        of totalCount: Int,
        for key: SharedStateKey,
        owner: String,
        using usedCount: Int,
        lasting duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) -> SharedPlaces {
        try await perform(.places) {
            $0.takePlaces(
                wantedCount,
                of: totalCount,
                for: key,
                owner: owner,
                using: usedCount,
                lasting: duration,
                within: limit
            )
        }
    }

    func holdTokens(
        of key: SharedStateKey,
        for duration: Duration,
        within limit: Duration
    ) async throws(ApiConnectorError) {
        try await perform(.hold) { $0.holdTokens(of: key, for: duration, within: limit) }
    }
}
