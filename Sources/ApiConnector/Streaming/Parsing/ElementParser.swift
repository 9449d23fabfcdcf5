// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// From a body's bytes to a stream's elements: a pure state machine, one for each format.
protocol ElementParser<Element>: Sendable {
    associatedtype Element: Sendable

    /// Whether it wants no more bytes and nothing comes any more: a sentinel came, or the end where the format knows
    /// one.
    var isOver: Bool { get }

    /// From where a stream that breaks off here is resumed; nil for a format that cannot be.
    var resumePoint: ResumePoint? { get }

    /// Whether the last elements have led further than any before, so that attempts to resume are counted again.
    var isAdvancing: Bool { get }

    /// Takes the next bytes.
    mutating func append(_ chunk: Data)

    /// No more bytes will come.
    mutating func end()

    /// Appends the next elements; fewer than `count` where it needs more bytes, or at the end.
    ///
    /// - Throws: ``ApiConnectorError``; the elements before the error are appended, and nothing comes after it.
    mutating func read(_ batch: inout [Element], upTo count: Int) throws(ApiConnectorError)
}

extension ElementParser {
    var isOver: Bool { false }
    var isAdvancing: Bool { true }
    var resumePoint: ResumePoint? { nil }
}
