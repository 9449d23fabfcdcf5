// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How far a run of the generator is.
public enum Stage: Sendable, Hashable, CustomStringConvertible {
    /// The generator is reading a file, counted from 1.
    case file(Int)
    /// The generator is reading an operation, counted from 1, and the schemas that it uses.
    case operation(Int, of: Int)
    /// The generator is writing a source file, counted from 1.
    case source(Int)

    /// A sentence without a full stop.
    public var description: String {
        switch self {
        case .file(let number): "Reading file \(number)"
        case .operation(let number, let count): "Reading operation \(number) of \(count)"
        case .source(let number): "Writing source file \(number)"
        }
    }

    /// Whether a log has a line for it: the first of each kind, and every hundredth.
    private var isInLog: Bool {
        switch self {
        case .file(let number), .source(let number): number == 1 || number.isMultiple(of: 100)
        case .operation(let number, let count): number == 1 || number == count || number.isMultiple(of: 100)
        }
    }

    /// The text to write for a stage; empty for none.
    ///
    /// - Parameter isTerminal: Whether each text replaces the one before, as a terminal can; otherwise lines of a log.
    public func text(isTerminal: Bool) -> String {
        if isTerminal { return Self.clearing + description }
        return isInLog ? description + "\n" : ""
    }

    /// Removes the text of a stage from a terminal's line.
    public static let clearing = "\r\u{1B}[K"
}
