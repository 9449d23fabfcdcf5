// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension JSONValue {
    /// Decodes this value as a model.
    ///
    /// - Parameters:
    ///   - type: The model; can be left out if the context names it.
    ///   - decoder: The decoder; Foundation's defaults by default.
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed`, with the coding path and the JSON found there.
    /// - Complexity: O(*n*) in the size of the value, which is encoded as JSON and decoded again.
    public func decoded<Model: Decodable>(
        as type: Model.Type = Model.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws(ApiConnectorError) -> Model {
        let json = Data(description.utf8)
        do {
            return try decoder.value(type, in: json)
        } catch {
            let failure = DecodingFailure(error, in: json, as: type, with: decoder, isRecord: false)
            throw ApiConnectorError(
                .decodingFailed,
                at: .value,
                "the value does not decode as \(type): \(failure.reason)",
                underlying: error
            )
            .advising(failure.advice)
        }
    }
}
