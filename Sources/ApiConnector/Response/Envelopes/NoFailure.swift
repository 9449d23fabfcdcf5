// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The failure type of a backend that defines none; it has no values.
public enum NoFailure: Decodable, Sendable {
    /// Always throws.
    public init(from decoder: any Decoder) throws {
        let context = DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "The router declares no failure type."
        )
        throw DecodingError.dataCorrupted(context)
    }
}
