// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The calculations of RFC 9111, section 4.2.
///
/// Points in time are seconds since 1970.
///
/// This file does not use Foundation, so that a script can check that it compiles for systems whose `Int` has 32 bits.
enum FreshnessArithmetic {
    /// The greatest age in seconds; also the age of a response of unknown age.
    static let greatestAge: Int64 = 1 << 31

    /// The longest lifetime that is derived from `Last-Modified`: a day.
    static let longestHeuristic: Double = 86_400

    /// The age of a stored response (section 4.2.3), never too small.
    ///
    /// - Parameters:
    ///   - requested: When the request was sent, by this machine's clock.
    ///   - received: When the head of the response arrived, by this machine's clock.
    ///   - generated: The response's `Date`; nil if it has none.
    ///   - ageValue: The response's `Age`; 0 if it has none.
    static func age(now: Double, requested: Double, received: Double, generated: Double?, ageValue: Int64) -> Double {
        // If the clock was set back, the elapsed time is unknown.
        guard now >= received, received >= requested else { return Double(greatestAge) }
        let apparent = generated.map { max(0, received - $0) } ?? 0
        let corrected = Double(ageValue) + (received - requested)
        return max(apparent, corrected) + (now - received)
    }

    /// The lifetime if the server gives none (section 4.2.2): a tenth of the time since the last change.
    static func heuristicLifetime(generated: Double, lastModified: Double) -> Double {
        min(max(0, generated - lastModified) / 10, longestHeuristic)
    }

    /// The value of the `Age` field, in whole seconds.
    static func field(age: Double) -> String {
        String(Int64(min(max(age, 0), Double(greatestAge))))
    }
}
