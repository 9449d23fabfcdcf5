// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Shares the circuits of this instance with other instances.
///
/// - A request starts a read of the circuit's record if the next read is due: one refresh interval after the start of
///   the last read, or after the backoff if the last read failed. The request does not wait for the read.
/// - A trial request needs a lease, so that one instance at a time sends trial requests.
final class CircuitSharing: Sendable {
    enum Permission {
        /// The trial request is sent, with a lease unless the shared state is unavailable.
        case granted(SharedLease?)
        case refused
    }

    private let shared: SharedCircuits
    private let circuits: Circuits
    private let openDuration: Duration
    /// The name of this instance as an owner of leases.
    private let owner = UUID().uuidString

    init(_ shared: SharedCircuits, _ circuits: Circuits, _ policy: CircuitPolicy) {
        self.shared = shared
        self.circuits = circuits
        openDuration = max(policy.openDuration.bounded, .milliseconds(1))
    }

    /// Reads a circuit's record if it is time for the next look.
    ///
    /// Reports an event while the shared state is unavailable.
    func look(at origin: HTTPOrigin, for request: ApiRequest) {
        let timeSource = request.timeSource
        let now = timeSource.now
        let (isAway, mayLook) = circuits.change(origin) { circuit in
            (circuit.view.isAway, circuit.view.beginLook(now: now, interval: shared.refreshInterval))
        }
        if isAway { request.reportUnavailableState(of: "circuits", shared.name) }
        guard mayLook else { return }
        Task { [self] in
            let record = try? await shared.state.record(for: shared.key(of: origin), within: shared.operationLimit)
            let now = timeSource.now
            circuits.change(origin) { circuit in
                let news = circuit.view.see(record, now: now)
                circuit.follow(news, now: now)
            }
        }
    }

    /// Asks for the right to send a trial request; without the shared state, each instance has it.
    ///
    /// - Parameter number: The number of the admission.
    func mayProbe(
        _ origin: HTTPOrigin,
        _ number: Int,
        for request: ApiRequest
    ) async throws(ApiConnectorError) -> Permission {
        let timeSource = request.timeSource
        guard circuits.change(origin, { $0.view.mayAsk(now: timeSource.now) }) else { return .granted(nil) }
        let permission = try await request.withDeadline { [self] in await acquireLease(origin) }
        let now = timeSource.now
        switch permission {
        case .granted(let lease?):
            try await refresh(origin, for: request, ending: lease)
            // Another instance may have sent a trial request since this instance last read the record.
            if !circuits.change(origin, { $0.isCurrent(number) }) {
                publish(nil, origin, ending: lease, timeSource)
                return .refused
            }
        case .granted(nil):
            circuits.change(origin) { $0.view.fail(now: now) }
            request.reportUnavailableState(of: "circuits", shared.name)
        case .refused:
            circuits.change(origin) { circuit in
                circuit.view.succeed()
                circuit.yield(for: shared.refreshInterval, now: now)
            }
        }
        return permission
    }

    /// Reads the record under the lease.
    private func refresh(
        _ origin: HTTPOrigin,
        for request: ApiRequest,
        ending lease: SharedLease
    ) async throws(ApiConnectorError) {
        let record: SharedRecord?
        do throws(ApiConnectorError) {
            record = try await request.withDeadline { [shared] in
                try? await shared.state.record(for: shared.key(of: origin), within: shared.operationLimit)
            }
        } catch {
            publish(nil, origin, ending: lease, request.timeSource)
            throw error
        }
        let now = request.timeSource.now
        circuits.change(origin) { circuit in
            circuit.view.succeed()
            if let record { circuit.follow(circuit.view.learn(record), now: now) }
        }
    }

    private func acquireLease(_ origin: HTTPOrigin) async -> Permission {
        // This runs in its own task. The store could still run a canceled operation, and only this call would know the
        // lease and end it.
        let operation = Task { [shared, owner, openDuration] in
            try await shared.state.acquireLease(
                of: shared.key(of: origin),
                owner: owner,
                for: openDuration,
                within: shared.operationLimit
            )
        }
        do {
            let lease = try await operation.value
            guard let lease else { return .refused }
            // The call no longer waits for the permission.
            if Task.isCancelled { Task { [shared] in try? await shared.end(lease) } }
            return .granted(lease)
        } catch {
            return .granted(nil)
        }
    }

    /// Tells the other instances about a change, and then ends the lease of a trial request.
    func publish(
        _ event: CircuitEvent?,
        _ origin: HTTPOrigin,
        ending lease: SharedLease?,
        _ timeSource: any TimeSource
    ) {
        guard event != nil || lease != nil else { return }
        Task { [self] in
            do throws(ApiConnectorError) {
                if event == .opened { try await write(isOpening: true, origin) }
                if event == .closed { try await write(isOpening: false, origin) }
                if let lease { try await shared.end(lease) }
            } catch {
                circuits.change(origin) { $0.view.fail(now: timeSource.now) }
            }
        }
    }

    private func write(isOpening: Bool, _ origin: HTTPOrigin) async throws(ApiConnectorError) {
        let key = shared.key(of: origin)
        let data = isOpening ? Data("open \(UUID().uuidString)".utf8) : nil
        // If another instance writes at the same time, its record may be the right one already.
        for _ in 0..<3 {
            let record = try await shared.state.record(for: key, within: shared.operationLimit)
            guard circuits.change(origin, { $0.view.beginWrite(over: record, data) }) else { return }
            defer { circuits.change(origin) { $0.view.endWrite() } }
            let version = try await shared.state.replaceRecord(
                with: data,
                for: key,
                ifVersion: record.version,
                lifetime: openDuration,
                within: shared.operationLimit
            )
            guard let version else { continue }
            return circuits.change(origin) { $0.view.know(version, isOpening: isOpening) }
        }
    }
}

extension SharedCircuits {
    fileprivate func end(_ lease: SharedLease) async throws(ApiConnectorError) {
        try await state.endLease(lease, within: operationLimit)
    }
}

/// The circuits of up to 256 hosts; the least recently used one is forgotten.
final class Circuits: Sendable {
    static let maximumCount = 256

    private let policy: CircuitPolicy
    private let circuits = Protected<[HTTPOrigin: Circuit]>([:])

    init(_ policy: CircuitPolicy) {
        self.policy = policy
    }

    /// The number of circuits.
    var count: Int { circuits.withLock { $0.count } }

    func admit(_ origin: HTTPOrigin, now: Duration) -> Circuit.Admission {
        change(origin) { $0.admit(now: now) }
    }

    /// Changes the circuit of a host; an unknown host first gets a new circuit.
    @discardableResult
    func change<Result: Sendable>(_ origin: HTTPOrigin, _ body: (inout Circuit) -> Result) -> Result {
        circuits.withLock { circuits in
            if circuits[origin] == nil, circuits.count >= Self.maximumCount,
                let oldest = circuits.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                circuits[oldest.key] = nil
            }
            return body(&circuits[origin, default: Circuit(policy)])
        }
    }

    func record(_ outcome: Circuit.Outcome, of number: Int, _ origin: HTTPOrigin, now: Duration) -> CircuitEvent? {
        circuits.withLock { $0[origin]?.record(outcome, of: number, now: now) }
    }
}
