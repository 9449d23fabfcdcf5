// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

/// SplitMix64 (Steele, Lea, Flood, 2014): the same numbers again for the same seed.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SplitMix64 {
    /// Runs a test `count` times from a printed seed, and says which run failed.
    ///
    /// - Parameter isolation: The caller's own.
    package static func runs(
        _ count: Int,
        _ test: String = #function,
        isolation: isolated (any Actor)? = #isolation,
        _ run: (inout SplitMix64) async throws -> Void
    ) async {
        var random = printed(test)
        for number in 0..<count {
            do {
                try await run(&random)
            } catch {
                Issue.record(error, "run \(number)")
                return
            }
        }
    }

    /// A generator with a new seed, which is printed; `APICONNECTOR_RANDOM_SEED` in the process environment repeats
    /// one.
    package static func printed(_ test: String = #function) -> SplitMix64 {
        let given = ProcessInfo.processInfo.environment["APICONNECTOR_RANDOM_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64.max)
        print("\(test): APICONNECTOR_RANDOM_SEED=\(seed)")
        return SplitMix64(seed: seed)
    }

    /// How many cases a property is tried with: 100,000 in release, a fiftieth in debug.
    ///
    /// `APICONNECTOR_CASES` in the process environment says another number, for runs that look for something else.
    package static var caseCount: Int {
        if let given = ProcessInfo.processInfo.environment["APICONNECTOR_CASES"].flatMap({ Int($0) }) { return given }
        #if DEBUG
        return 2_000
        #else
        return 100_000
        #endif
    }
}
