// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

struct FreshnessArithmeticTests {
    /// After 2038, where a count of seconds in 32 bits has ended.
    private static let now: Double = 4_107_542_400.0

    private static func age(
        _ now: Double = now,
        requested: Double = now - 12,
        received: Double = now - 10,
        generated: Double? = nil,
        ageValue: Int64 = 0
    ) -> Double {
        FreshnessArithmetic.age(
            now: now,
            requested: requested,
            received: received,
            generated: generated,
            ageValue: ageValue
        )
    }

    @Test func countsTheDelayOfTheResponseAndTheTimeInTheCache() {
        #expect(Self.age() == 12)
        #expect(Self.age(ageValue: 30) == 42)
        #expect(Self.age(generated: Self.now - 100) == 100)
        #expect(Self.age(generated: Self.now + 100) == 12)
        #expect(Self.age(ageValue: HTTPSeconds.greatest) == 2_147_483_660.0)
    }

    @Test func theAgeIsUnknownAfterTheClockWasSetBack() {
        #expect(Self.age(requested: Self.now - 9) == 2_147_483_648.0)
        #expect(Self.age(received: Self.now + 1) == 2_147_483_648.0)
    }

    @Test func writesAnAgeInWholeSecondsOfAtMostTwoToThe31() {
        #expect(FreshnessArithmetic.field(age: 12.9) == "12")
        #expect(FreshnessArithmetic.field(age: -1) == "0")
        #expect(FreshnessArithmetic.field(age: 1e12) == "2147483648")
        #expect(FreshnessArithmetic.field(age: .infinity) == "2147483648")
    }

    @Test func theHeuristicLifetimeIsATenthOfTheTimeSinceTheLastChangeUpToADay() {
        #expect(FreshnessArithmetic.heuristicLifetime(generated: Self.now, lastModified: Self.now - 600) == 60)
        #expect(FreshnessArithmetic.heuristicLifetime(generated: Self.now, lastModified: 0) == 86_400)
        #expect(FreshnessArithmetic.heuristicLifetime(generated: Self.now, lastModified: Self.now + 600) == 0)
    }
}
