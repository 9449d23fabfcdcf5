// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The list of equivalent mutants, which behave like the original code.
///
/// An entry has two lines that identify the mutant, and below them the indented reason. A line that starts with `#` is
/// a comment.
public struct EquivalentMutants: Sendable {
    /// The identity of each mutant.
    public private(set) var identities: Set<String> = []

    /// Reads the list.
    ///
    /// - Throws: ``MutantError`` if an entry has no reason, or is a duplicate.
    public init(_ text: String) throws(MutantError) {
        var entries: [[Substring]] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") && line.contains(where: { $0 != " " }) {
            if line.hasPrefix(" "), !entries.isEmpty {
                entries[entries.count - 1].append(line)
            } else {
                entries.append([line])
            }
        }
        for entry in entries {
            let identity = entry.prefix(2).joined(separator: "\n")
            guard entry.count > 2 else { throw MutantError("an equivalent mutant has no reason:\n\(identity)") }
            guard identities.insert(identity).inserted else {
                throw MutantError("an equivalent mutant is listed twice:\n\(identity)")
            }
        }
    }
}

/// An error that ends the command.
public struct MutantError: Error, CustomStringConvertible {
    /// The message.
    public let description: String

    /// Makes an error with a message.
    public init(_ description: String) {
        self.description = description
    }
}
