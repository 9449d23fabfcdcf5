// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A small change of a source file that a test should notice.
public struct Mutant: Sendable, Hashable {
    /// The kind of the change.
    public enum Operator: String, Sendable, CaseIterable {
        /// Swaps `<` and `<=`, `>` and `>=`, `==` and `!=`.
        case comparison
        /// Swaps `&&` and `||`; removes a `!`.
        case logic
        /// Swaps `+` and `-` next to an integer literal.
        case arithmetic
        /// Adds 1 to an integer; swaps `true` and `false`.
        case constant
        /// Negates the condition of an `if`, a `guard` or a `while`.
        case condition
        /// Removes a statement that calls a function or assigns a value.
        case statement
    }

    /// The path below the folder of sources.
    public let file: String
    /// The first line, from 1.
    public let line: Int
    /// The last line.
    public let lastLine: Int
    /// The text of the first line, without the indentation.
    public let lineText: String
    /// The kind of the change.
    public let kind: Operator
    /// The original code and its replacement.
    public let original, mutated: String
    /// In bytes of UTF-8.
    public let range: Range<Int>
    /// The index, from 1, among the file's mutants with the same change in a line with the same text.
    public internal(set) var occurrence = 1

    /// Code that behaves like the mutant if its number is switched on, otherwise like the original.
    public func code(number: Int) -> String {
        switch kind {
        case .condition: "(isMutant(\(number)) != (\(original)))"
        case .statement: "if !isMutant(\(number)) { \(original) }"
        default: "(isMutant(\(number)) ? (\(mutated)) : (\(original)))"
        }
    }

    /// The code before and after, in one line.
    public var change: String {
        "\(Self.inOneLine(original)) → \(kind == .statement ? "(removed)" : Self.inOneLine(mutated))"
    }

    /// Two lines that identify the mutant even after edits elsewhere in the file: the line's text, and the change.
    public var identity: String {
        "\(file): \(lineText)\n    \(change)\(occurrence > 1 ? " #\(occurrence)" : "")"
    }

    private static func inOneLine(_ code: String) -> String {
        code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
