// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A small change of a source file that a test should notice.
public struct Mutant: Sendable, Hashable {
    /// What kind of change it is.
    public enum Operator: String, Sendable, CaseIterable {
        /// `<` and `<=`, `>` and `>=`, `==` and `!=` change places.
        case comparison
        /// `&&` and `||` change places; a `!` is removed.
        case logic
        /// `+` and `-` change places beside an integer literal.
        case arithmetic
        /// An integer is one more; `true` and `false` change places.
        case constant
        /// The condition of an `if`, a `guard` or a `while` is negated.
        case condition
        /// A statement that calls a function or assigns a value is removed.
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
    /// What kind of change it is.
    public let kind: Operator
    /// The code that is replaced, and what replaces it.
    public let original, mutated: String
    /// In bytes of UTF-8.
    public let range: Range<Int>
    /// Which one it is of the file's mutants with the same change in a line with the same text, from 1.
    public internal(set) var occurrence = 1

    /// The code that behaves as the mutant while its number is switched on, else as the original.
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

    /// Two lines that identify the mutant after edits elsewhere in the file: the line's text, and the change.
    public var identity: String {
        "\(file): \(lineText)\n    \(change)\(occurrence > 1 ? " #\(occurrence)" : "")"
    }

    private static func inOneLine(_ code: String) -> String {
        code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
