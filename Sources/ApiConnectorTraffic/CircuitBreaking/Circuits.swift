// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
