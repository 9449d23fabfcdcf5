// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What goes wrong on the server, and how often: the same each time for the same seed.
package struct FaultPlan: Sendable {
    /// What an item's request meets in place of its answer.
    enum Fault: Sendable {
        /// 503 with `Retry-After: 1`.
        case unavailable
        /// The connection is closed in the middle of the body.
        case dropped
    }

    private let seed: UInt64?

    /// How many good answers a token is for; nil is without limit.
    let tokenUseCount: Int?

    /// Nothing goes wrong.
    package static let none = FaultPlan(seed: nil, tokenUseCount: nil)

    /// About one item in six meets one fault or two, and a token expires after 60 good answers.
    package static func seeded(_ seed: UInt64) -> FaultPlan {
        FaultPlan(seed: seed, tokenUseCount: 60)
    }

    /// What an item's requests meet, one after the other, before it is answered.
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
