// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Why a carrier does not take a script: what it cannot express, each with the line where that was declared.
public struct CarrierRefusal: Error, CustomStringConvertible {
    /// One thing that the carrier cannot express.
    public struct Item: Sendable, CustomStringConvertible {
        /// Where it was declared.
        public let place: SourcePlace

        /// What it is and what to do, as the end of the sentence "The answer declared at … ".
        let sentence: String

        /// What it is, where it was declared, and what to do.
        public var description: String { "What is declared at \(place) is refused: \(sentence)." }
    }

    /// What the carrier cannot express, in the order in which it was declared; at least one.
    public let items: [Item]

    /// All of it, a line each.
    public var description: String { items.map(\.description).joined(separator: "\n") }
}
