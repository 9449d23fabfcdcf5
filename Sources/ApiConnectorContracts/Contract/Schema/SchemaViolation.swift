// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A keyword of a schema that a value does not satisfy.
struct SchemaViolation: Sendable, Equatable {
    /// The JSON pointer of the keyword in the document, as a fragment.
    let schema: String

    /// The JSON pointer of the value in the body; empty for the whole body.
    let value: String

    /// The problem, such as "it is a number, but the schema requires string".
    let sentence: String
}
