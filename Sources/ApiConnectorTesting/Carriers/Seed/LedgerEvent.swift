// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Who is told what a ledger notes, before anything comes of it.
protocol LedgerReporter: Sendable {
    /// Tells one event.
    ///
    /// - Returns: Why a request that has come is not to be answered; nil for all else.
    func report(_ event: LedgerEvent) -> String?
}

/// What a ledger notes, as a program that was seeded tells it to its test.
enum LedgerEvent: Codable, Sendable {
    /// A request has come, with its number.
    case entered(Int, SeedRequest)
    /// A declaration's step was given.
    case took(declaration: Int, step: Int)
    /// A request waits for what only somebody else can end.
    case waits(Int)
    /// A request waits for the test to release the answer.
    case held(Int, declaration: Int, step: Int)
    /// A request has ended.
    case ended(Int, SeedOutcome)
    case verdict(Verdict.Kind, String, SeedPlace)
}

/// A request as it is told.
struct SeedRequest: Codable, Sendable {
    let method: String
    let url: URL
    let headers: [SeedField]
    let body: Data
    let attempt: Int

    init(_ sent: SentRequest) {
        method = sent.method.rawValue
        url = sent.url
        headers = sent.headers.map(SeedField.init)
        body = sent.body
        attempt = sent.attempt
    }

    var request: ApiRequest {
        var request = ApiRequest(url: url, method: HTTPMethod(rawValue: method), headers: HTTPHeaders(headers))
        if !body.isEmpty {
            let type = request.headers[.contentType].flatMap { MediaType($0) } ?? .octetStream
            request.body = .data(body, mediaType: type)
        }
        request.attempt = attempt
        return request
    }
}

/// What became of a request, as it is told.
enum SeedOutcome: Codable, Sendable {
    case answered(Int)
    case failed(SeedFailure)
    case cancelled

    init(_ outcome: SentRequest.Outcome) {
        switch outcome {
        case .answered(let status): self = .answered(status.rawValue)
        case .failed(let error): self = .failed(SeedFailure(error))
        case .cancelled, .pending: self = .cancelled
        }
    }

    var outcome: SentRequest.Outcome {
        switch self {
        case .answered(let status): .answered(HTTPStatus(rawValue: status))
        case .failed(let failure): .failed(failure.apiConnectorError)
        case .cancelled: .cancelled
        }
    }
}

/// What the two sides say to one another: a line of JSON each.
enum SeedMessage {
    /// What the program says; each is acknowledged before it goes on.
    enum FromProgram: Codable, Sendable {
        /// The first one, with the key that its seed holds.
        case hello(key: String)
        case event(LedgerEvent)
    }

    /// What the test says.
    enum FromTest: Codable, Sendable {
        /// How often each step was given before, by an earlier launch of the same seed.
        case given([[Int]])
        case acknowledged(refusal: String?)
        case release(declaration: Int, step: Int, SeedResponse)
        case stop(Int, String)
    }

    static func line(_ message: some Encodable) throws -> Data {
        try JSONEncoder().encode(message) + Data("\r\n".utf8)
    }

    static func parse<Message: Decodable>(_ line: String, as type: Message.Type = Message.self) throws -> Message {
        try JSONDecoder().decode(type, from: Data(line.utf8))
    }
}
