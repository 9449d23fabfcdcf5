// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Parses a body's bytes into a stream's elements; each format has its own pure state machine.
protocol ElementParser<Element>: Sendable {
    associatedtype Element: Sendable

    /// Whether no element follows and no more bytes are needed: after a sentinel, or at an end that the format defines.
    var isOver: Bool { get }

    /// Where to resume a stream that breaks off here; nil for a format that cannot be resumed.
    var resumePoint: ResumePoint? { get }

    /// Whether the last elements made new progress, so that the count of attempts starts again.
    var isAdvancing: Bool { get }

    /// Appends the next bytes.
    mutating func append(_ chunk: Data)

    /// Marks the end of the bytes.
    mutating func end()

    /// Appends the next elements; fewer than `count` if more bytes are needed, or at the end.
    ///
    /// - Throws: ``ApiConnectorError``; the elements before the error are appended, and no elements follow.
    mutating func read(_ batch: inout [Element], upTo count: Int) throws(ApiConnectorError)
}

extension ElementParser {
    var isOver: Bool { false }
    var isAdvancing: Bool { true }
    var resumePoint: ResumePoint? { nil }
}
