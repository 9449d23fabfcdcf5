// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A server-sent event, as defined by the WHATWG HTML standard.
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server names none.
    public let type: String

    /// The data; several lines are joined with LF.
    public let data: String

    /// The last event ID, from this event or an earlier one; empty if the server has sent none.
    public let id: String

    /// Makes an event, for example for a test.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent {
    /// Decodes the JSON in the data as a model.
    ///
    /// If all events have the same model, the stream can decode them: `stream(of:at:as:)`.
    ///
    /// - Parameters:
    ///   - model: The model; can be omitted if the compiler can infer it.
    ///   - decoder: The decoder, for example that of the connection's configuration; Foundation's defaults by default.
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed`, with the coding path and the JSON found there.
    public func decoded<Model: Decodable>(
        as model: Model.Type = Model.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws(ApiConnectorError) -> Model {
        let json = Data(data.utf8)
        do {
            return try decoder.value(model, in: json)
        } catch {
            let failure = DecodingFailure(error, in: json, as: model, with: decoder, isRecord: true)
            throw ApiConnectorError(
                .decodingFailed,
                at: .value,
                "the data of an event does not decode as \(model): \(failure.reason)",
                underlying: error
            )
            .advising(failure.advice)
        }
    }
}
