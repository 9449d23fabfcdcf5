// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A request that a ``Script`` received, with the changes of all wrappers, and its outcome.
public struct RecordedRequest: Sendable {
    /// The outcome of a request.
    public enum Outcome: Sendable {
        /// The request has no answer yet.
        case pending
        /// The request was answered with this status.
        case answered(HTTPStatus)
        /// The request failed.
        case failed(ApiConnectorError)
        /// The caller canceled the request.
        case cancelled
    }

    /// The number of the request in the script's order of arrival, counted from 1.
    public let number: Int

    /// The request; a streamed body has been read into memory.
    public let request: ApiRequest

    /// The body's bytes.
    public let body: Data

    /// The outcome at the time when this value was read from the script.
    public internal(set) var outcome = Outcome.pending

    package init(number: Int, request: ApiRequest, body: Data) {
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

    /// The number of the attempt, counted from 1.
    public var attempt: Int { request.attempt }

    /// Decodes the JSON body, with the connection's decoder by default.
    ///
    /// - Throws: ``/ApiConnector/ApiConnectorError`` of kind `.decodingFailed`. If the body is not JSON, the decoder's
    ///   error.
    public func json<Value: Decodable>(
        as type: Value.Type = Value.self,
        with decoder: JSONDecoder? = nil
    ) throws -> Value {
        let decoder = decoder ?? request.decoder ?? JSONDecoder()
        return try JSONDecoder().decode(JSONValue.self, from: body).decoded(as: type, with: decoder)
    }

    /// The request as a `curl` command, with sorted JSON keys and without secrets.
    ///
    /// Equal requests give equal texts.
    public var curlCommand: String {
        guard let type = mediaType, type.isJSON, let value = JSONValue(parsing: body) else {
            return request.curlCommand()
        }
        var request = request
        request.body = .data(Data(value.description.utf8), mediaType: type)
        return request.curlCommand()
    }

    /// The media type of the body: from the header field, otherwise from the body itself.
    package var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } ?? request.body.mediaType }
}

extension RecordedRequest: CustomStringConvertible {
    /// Method, URL and outcome, with secrets replaced.
    public var description: String { "\(request): \(outcome)" }
}

extension RecordedRequest.Outcome: CustomStringConvertible {
    /// A short description, such as `answered 200 OK`.
    public var description: String {
        switch self {
        case .pending: "pending"
        case .answered(let status): "answered \(status)"
        case .failed(let error): "failed (\(error.kind))"
        case .cancelled: "cancelled"
        }
    }
}
