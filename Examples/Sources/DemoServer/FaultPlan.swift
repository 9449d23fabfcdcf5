// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The server's faults.
///
/// The same seed gives the same faults.
package struct FaultPlan: Sendable {
    /// A fault that replaces the response of an item's request.
    enum Fault: Sendable {
        /// 503 with `Retry-After: 1`.
        case unavailable
        /// The connection is closed in the middle of the body.
        case dropped
    }

    private let seed: UInt64?

    /// The number of good responses per token; nil for no limit.
    let tokenUseCount: Int?

    /// A plan without faults.
    package static let none = FaultPlan(seed: nil, tokenUseCount: nil)

    /// About one item in six has one or two faults, and a token expires after 60 good responses.
    package static func seeded(_ seed: UInt64) -> FaultPlan {
        FaultPlan(seed: seed, tokenUseCount: 60)
    }

    /// The faults of an item's first requests, in order.
    func faults(ofItem item: Int) -> [Fault] {
        guard let seed else { return [] }
        var mixed = seed ^ UInt64(truncatingIfNeeded: item) &* 0x9E37_79B9_7F4A_7C15
        // The last steps of SplitMix64.
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        guard mixed % 6 == 0 else { return [] }
        let first: Fault = mixed & 64 == 0 ? .unavailable : .dropped
        return mixed & 128 == 0 ? [first] : [first, .dropped]
    }
}
