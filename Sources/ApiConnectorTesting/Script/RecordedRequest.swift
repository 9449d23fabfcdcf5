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

extension RecordedRequest {
    /// One part of a `multipart/form-data` body, as it was sent.
    public struct Part: Sendable {
        /// The field's name.
        public let name: String

        /// The file's name; nil for a field that is not a file.
        public let fileName: String?

        /// The part's media type; nil if it has none.
        public let mediaType: MediaType?

        /// The content.
        public let body: Data

        /// The content as UTF-8 text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The parts of a `multipart/form-data` body, in order; empty for another body.
    public var parts: [Part] {
        guard let type = mediaType, type.matches(MediaType("multipart", "form-data")),
            let boundary = type.parameters.first(where: { $0.name.lowercased() == "boundary" })?.value
        else { return [] }
        let lineBreak = Data("\r\n".utf8)
        let delimiter = lineBreak + Data("--\(boundary)".utf8)
        // A delimiter includes the line break before it. The first delimiter has none, so it is added.
        var rest = lineBreak + body
        var parts: [Part] = []
        guard let start = rest.range(of: delimiter) else { return [] }
        rest = rest[start.upperBound...]
        while !rest.starts(with: Data("--".utf8)), let end = rest.range(of: delimiter) {
            if let part = Part(parsing: rest[rest.startIndex..<end.lowerBound].dropFirst(2)) { parts.append(part) }
            rest = rest[end.upperBound...]
        }
        return parts
    }
}

extension RecordedRequest.Part {
    /// Parses the bytes between two delimiters; nil if the part has no name.
    fileprivate init?(parsing bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[bytes.startIndex..<end.lowerBound], as: UTF8.self)
        var fields: [String: String] = [:]
        for line in head.components(separatedBy: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let disposition = fields["content-disposition"] ?? ""
        func parameter(_ name: String) -> String? {
            guard let start = disposition.range(of: "; \(name)=\"") else { return nil }
            // The quotes and line breaks of a name are escaped.
            let text = String(disposition[start.upperBound...].prefix { $0 != "\"" })
            return text.replacing("%22", with: "\"").replacing("%0D%0A", with: "\r\n")
        }
        guard let name = parameter("name") else { return nil }
        self.name = name
        fileName = parameter("filename")
        mediaType = fields["content-type"].flatMap { MediaType($0) }
        body = Data(bytes[end.upperBound...])
    }
}

extension RequestMatcher {
    /// Matches a `multipart/form-data` body with exactly one part of this name, if that part has this text.
    ///
    /// Other parts may be present.
    ///
    /// To check files' names and types, use ``RecordedRequest/parts``.
    public static func part(_ name: String, _ text: String) -> RequestMatcher {
        let isSecret = Redactor.standard.isSecret(queryItem: name)
        return RequestMatcher(".part(\(code(name)), \(code(text, isSecret)))", .part(name, text)) { sent in
            let texts = sent.parts.filter { $0.name == name }.map(\.text)
            guard texts != [text] else { return [] }
            let shown = texts.isEmpty ? nil : texts.joined(separator: "\", \"")
            return [Difference("part \(name)", wanted: text, sent: shown, isSecret: isSecret)]
        }
    }
}

/// The requests of a script, and the waiting calls of `nextRequest`.
struct RequestLog: Sendable {
    private(set) var all: [RecordedRequest] = []
    private var announcedCount = 0
    private var watchers: [Eventual<RecordedRequest>] = []

    var nextNumber: Int { all.count + 1 }

    /// Adds a request.
    ///
    /// - Returns: The waiter for the request; nil if there is none.
    mutating func add(_ sent: RecordedRequest) -> Eventual<RecordedRequest>? {
        all.append(sent)
        guard !watchers.isEmpty else { return nil }
        announcedCount += 1
        return watchers.removeFirst()
    }

    /// Adds a request that was canceled before its body had arrived.
    ///
    /// Does not resume a waiter.
    mutating func addCanceled(_ request: ApiRequest) {
        var sent = RecordedRequest(number: nextNumber, request: request, body: Data())
        sent.outcome = .cancelled
        all.append(sent)
    }

    mutating func end(_ number: Int, _ outcome: RecordedRequest.Outcome) {
        all[number - 1].outcome = outcome
    }

    subscript(number: Int) -> RecordedRequest { all[number - 1] }

    /// Returns the next request that the method has not yet returned.
    ///
    /// If there is none, the watcher gets the next request when it arrives.
    mutating func next(orTell watcher: Eventual<RecordedRequest>) -> RecordedRequest? {
        guard announcedCount < all.count else {
            watchers.append(watcher)
            return nil
        }
        defer { announcedCount += 1 }
        return all[announcedCount]
    }

    /// Removes a watcher.
    ///
    /// - Returns: Whether the watcher was still waiting.
    mutating func remove(_ watcher: Eventual<RecordedRequest>) -> Bool {
        defer { watchers.removeAll { $0 === watcher } }
        return watchers.contains { $0 === watcher }
    }
}
