// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How often an answer is given.
public struct AnswerCount: Sendable, Hashable, ExpressibleByIntegerLiteral {
    package let minimum: Int
    package let maximum: Int

    package init(_ minimum: Int, _ maximum: Int) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Exactly this number of times; zero or a negative number means never.
    public init(integerLiteral value: Int) {
        self.init(exactly: value)
    }

    /// Exactly this number of times; zero or a negative number means never.
    public init(exactly count: Int) {
        self.init(max(count, 0), max(count, 0))
    }

    /// Any number of times, but at least once.
    ///
    /// If the answer is never used, that is an issue.
    public static let atLeastOnce = AnswerCount(1, .max)

    /// Any number of times, including none.
    public static let anyNumber = AnswerCount(0, .max)
}
