// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A request as it reached a ``Script``, with every wrapper's changes, and what became of it.
public struct RecordedRequest: Sendable {
    /// What became of a request.
    public enum Outcome: Sendable {
        /// It has no answer yet.
        case pending
        /// It was answered, with this status.
        case answered(HTTPStatus)
        /// It failed.
        case failed(ApiConnectorError)
        /// Its caller gave it up.
        case cancelled
    }

    /// Its place in the order in which the script's requests came, counted from 1.
    public let number: Int

    /// The request; a streamed body has been read into memory.
    public let request: ApiRequest

    /// The body's bytes.
    public let body: Data

    /// What became of it, at the time when it was looked at.
    public internal(set) var outcome = Outcome.pending

    init(number: Int, request: ApiRequest, body: Data) {
        self.number = number
        self.body = body
        var copy = request
        if request.body.isStreamed {
            copy.body = .data(body, mediaType: request.body.mediaType ?? .octetStream)
        }
        self.request = copy
    }

    /// The method.
    public var method: HTTPMethod { request.method }

    /// The URL.
    public var url: URL { request.url }

    /// The header fields.
    public var headers: HTTPHeaders { request.headers }

    /// Which attempt it was, counted from 1.
    public var attempt: Int { request.attempt }

    /// The body, decoded from JSON, with the connection's decoder by default.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.decodingFailed`, or what the decoder throws for a body
    ///   that is no JSON.
    public func json<Value: Decodable>(
        as type: Value.Type = Value.self,
        with decoder: JSONDecoder? = nil
    ) throws -> Value {
        let decoder = decoder ?? request.decoder ?? JSONDecoder()
        return try JSONDecoder().decode(JSONValue.self, from: body).decoded(as: type, with: decoder)
    }

    /// The request as a `curl` command: the same text each time, JSON's keys sorted, with secrets replaced.
    public var curlCommand: String {
        guard let type = mediaType, type.isJSON, let value = JSONValue(parsing: body) else {
            return request.curlCommand()
        }
        var request = request
        request.body = .data(Data(value.description.utf8), mediaType: type)
        return request.curlCommand()
    }

    /// What the body is: as the field says, or else as the body itself does.
    var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } ?? request.body.mediaType }
}

extension RecordedRequest: CustomStringConvertible {
    /// Method, URL and outcome, with secrets replaced.
    public var description: String { "\(request): \(outcome)" }
}

extension RecordedRequest.Outcome: CustomStringConvertible {
    /// A word or two, such as `answered 200 OK`.
    public var description: String {
        switch self {
        case .pending: "pending"
        case .answered(let status): "answered \(status)"
        case .failed(let error): "failed (\(error.kind))"
        case .cancelled: "cancelled"
        }
    }
}
