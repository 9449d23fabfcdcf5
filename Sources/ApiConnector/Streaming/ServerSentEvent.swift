// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One event of a stream of server-sent events, as the WHATWG's HTML standard dispatches it.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` where the server names none.
    public let type: String

    /// The data, several lines joined by LF.
    public let data: String

    /// The last event ID that the server has given, with this event or an earlier one; empty where it gave none.
    public let id: String

    /// Makes an event, such as for a test.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

extension ServerSentEvent {
    /// Decodes the data, which is JSON, as a model.
    ///
    /// A stream whose events are all of one model decodes them itself: `stream(of:at:as:)`.
    ///
    /// - Parameters:
    ///   - model: The model; left out where the context names it.
    ///   - decoder: What decodes it, such as that of the connection's configuration; Foundation's defaults by default.
    /// - Throws: ``ApiConnectorError`` of kind `.decodingFailed`, with the coding path and what stood there.
    public func decoded<Model: Decodable>(
        as model: Model.Type = Model.self,
        with decoder: JSONDecoder = JSONDecoder()
    ) throws(ApiConnectorError) -> Model {
        let json = Data(data.utf8)
        do {
            return try JSONNesting.decode(model, from: json, with: decoder)
        } catch {
            throw ApiConnectorError(
                .decodingFailed,
                at: .value,
                "the data of an event does not decode as \(model): \(CodingText.describe(error, in: json))",
                underlying: error
            )
            .advising(DecodingAdvice.text(for: error, in: json, as: model, with: decoder, isRecord: true, .standard))
        }
    }
}
