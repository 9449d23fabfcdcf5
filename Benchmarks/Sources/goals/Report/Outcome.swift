// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The outcome of a goal.
struct Outcome: Codable, Sendable {
    let goal: String
    let title: String
    private(set) var figures: [Figure] = []
    private(set) var checks: [Check] = []
    /// The issues for the missing parts.
    private(set) var notBuilt: [String]

    init(goal: String, title: String, notBuilt: [String] = []) {
        self.goal = goal
        self.title = title
        self.notBuilt = notBuilt
    }

    mutating func add(_ figure: Figure) {
        figures.append(figure)
    }

    mutating func add(_ checks: Check...) {
        self.checks += checks
    }

    var isShort: Bool { checks.contains { !$0.isMet } }
    var isFarOff: Bool { checks.contains(where: \.isFarOff) }

    /// The status: `met`, `short`, `not built` or `not measured`.
    ///
    /// If parts are missing, it names their issues.
    var status: String {
        let missing = notBuilt.isEmpty ? "" : "not built (\(notBuilt.joined(separator: ", ")))"
        if isShort { return "short" + (missing.isEmpty ? "" : ", in part \(missing)") }
        if checks.isEmpty { return missing.isEmpty ? "not measured (--quick)" : missing }
        return missing.isEmpty ? "met" : "met, in part \(missing)"
    }

    /// One line of text.
    var line: String {
        let number = goal.padding(toLength: 4, withPad: " ", startingAt: 0)
        let parts = [figures.map(\.text).joined(separator: ", "), checks.map(\.text).joined(separator: ", "), status]
        return "\(number)\(title): \(parts.filter { !$0.isEmpty }.joined(separator: "; "))"
    }
}

/// A median that was measured.
struct Figure: Codable, Sendable {
    let name: String
    let median: Double
    let unit: Unit

    init(_ name: String, _ median: Double, _ unit: Unit) {
        self.name = name
        self.median = median
        self.unit = unit
    }

    var text: String { "\(name) \(unit.text(median))" }
}

/// A condition of a goal, and the measured value.
struct Check: Codable, Sendable {
    let name: String
    let value: Double
    let bound: Double
    let isAtLeast: Bool
    let unit: Unit
    let isMet: Bool
    /// Whether the value is more than 25 % off, which noise does not explain.
    let isFarOff: Bool
    /// The end of the value's interval that is better; the value itself if it has no interval.
    private let bestValue: Double

    init(_ name: String, _ value: Double, atLeast bound: Double, _ unit: Unit = .times) {
        self.init(name, value, bound, isAtLeast: true, unit)
    }

    init(_ name: String, _ value: Double, atMost bound: Double, _ unit: Unit = .times) {
        self.init(name, value, bound, isAtLeast: false, unit)
    }

    /// A check of a value that has an interval.
    ///
    /// The value decides whether the goal is met. The value is far off, or worse than a known limit, only if the whole
    /// interval is.
    init(_ name: String, _ value: Double, from interval: MedianInterval, atMost bound: Double, _ unit: Unit) {
        self.init(name, value, bound, isAtLeast: false, unit, bestValue: interval.lower)
    }

    private init(
        _ name: String,
        _ value: Double,
        _ bound: Double,
        isAtLeast: Bool,
        _ unit: Unit,
        bestValue: Double? = nil
    ) {
        self.bestValue = bestValue ?? value
        self.name = name
        self.value = value
        self.bound = bound
        self.isAtLeast = isAtLeast
        self.unit = unit
        isMet = Self.reaches(bound, value, isAtLeast)
        // With this form of the comparison, NaN counts as far off.
        isFarOff = !Self.reaches(isAtLeast ? 0.75 * bound : 1.25 * bound, self.bestValue, isAtLeast)
    }

    /// Whether the value, or a part of its interval, is at least as good as a limit.
    func reaches(_ limit: Double) -> Bool { Self.reaches(limit, bestValue, isAtLeast) }

    private static func reaches(_ limit: Double, _ value: Double, _ isAtLeast: Bool) -> Bool {
        isAtLeast ? value >= limit : value <= limit
    }

    var text: String {
        "\(name) \(unit.text(value)) (goal \(isAtLeast ? "≥" : "≤") \(unit.text(bound))\(isMet ? "" : ", short"))"
    }
}

/// The unit of a number.
enum Unit: String, Codable, Sendable {
    case times, perSecond, milliseconds, microseconds, nanoseconds, megabytesPerSecond, megabytes, kilobytes, seconds,
        percent, count

    /// Whether the unit is a time or a ratio of times.
    ///
    /// A busy machine makes these worse, but not bytes and counts.
    var isSpeed: Bool {
        switch self {
        case .times, .perSecond, .milliseconds, .microseconds, .nanoseconds, .megabytesPerSecond, .seconds, .percent:
            true
        case .megabytes, .kilobytes, .count: false
        }
    }

    func text(_ value: Double) -> String {
        switch self {
        case .times: "\(value.rounded(to: 2)) ×"
        case .perSecond: "\(value.rounded(to: 0))/s"
        case .milliseconds: "\(value.rounded(to: 1)) ms"
        case .microseconds: "\(value.rounded(to: 2)) µs"
        case .nanoseconds: "\(value.rounded(to: 0)) ns"
        case .megabytesPerSecond: "\(value.rounded(to: 0)) MB/s"
        case .megabytes: "\(value.rounded(to: 1)) MB"
        case .kilobytes: "\(value.rounded(to: 1)) KB"
        case .seconds: "\(value.rounded(to: 1)) s"
        case .percent: "\(value.rounded(to: 2)) %"
        case .count: value.rounded(to: 0)
        }
    }
}

extension Double {
    /// The number with `digitCount` digits after the decimal point, and a comma between groups of three digits.
    fileprivate func rounded(to digitCount: Int) -> String {
        formatted(
            .number.precision(.fractionLength(digitCount)).locale(Locale(identifier: "en_US_POSIX")).grouping(
                .automatic
            )
        )
    }
}

/// All results as JSON.
struct Report: Encodable {
    let machine: String
    let isQuick: Bool
    let outcomes: [Outcome]

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
