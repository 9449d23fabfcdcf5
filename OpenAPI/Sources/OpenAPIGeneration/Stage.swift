// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The progress of a run of the generator.
public enum Stage: Sendable, Hashable, CustomStringConvertible {
    /// The generator is reading a file, counted from 1.
    case file(Int)
    /// The generator is reading an operation, counted from 1, and the schemas that it uses.
    case operation(Int, of: Int)
    /// The generator is writing a source file, counted from 1.
    case source(Int)

    /// The stage as a sentence without a period.
    public var description: String {
        switch self {
        case .file(let number): "Reading file \(number)"
        case .operation(let number, let count): "Reading operation \(number) of \(count)"
        case .source(let number): "Writing source file \(number)"
        }
    }

    /// Whether a log gets a line for the stage.
    ///
    /// It gets a line for the first stage of each kind, for every hundredth, and for the last operation.
    private var isInLog: Bool {
        switch self {
        case .file(let number), .source(let number): number == 1 || number.isMultiple(of: 100)
        case .operation(let number, let count): number == 1 || number == count || number.isMultiple(of: 100)
        }
    }

    /// The text to print for the stage; empty if a log gets no line for it.
    ///
    /// - Parameter isTerminal: Whether the text is for a terminal, where it replaces the previous text. Otherwise, it
    ///   is a line of a log.
    public func text(isTerminal: Bool) -> String {
        if isTerminal { return Self.clearing + description }
        return isInLog ? description + "\n" : ""
    }

    /// The control characters that remove the text of a stage from a terminal.
    public static let clearing = "\r\u{1B}[K"
}
