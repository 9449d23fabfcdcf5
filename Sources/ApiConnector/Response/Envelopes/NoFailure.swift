// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The failure of a backend that describes none; there is no value of it.
public enum NoFailure: Decodable, Sendable {
    /// Throws: nothing decodes as it.
    public init(from decoder: any Decoder) throws {
        let context = DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "The router declares no failure type."
        )
        throw DecodingError.dataCorrupted(context)
    }
}
