// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// An event of the program's script, as it is sent to the test.
enum SeedEvent: Codable, Sendable {
    case entered(Int, SeedRequest)
    case took(declaration: Int, step: Int)
    case waits(Int)
    case held(Int, declaration: Int, step: Int)
    case ended(Int, SeedOutcome)
    case issue(TestIssue.Kind, String, SeedPlace)

    init(_ event: ScriptEvent) {
        switch event {
        case .entered(let sent): self = .entered(sent.number, SeedRequest(sent))
        case .took(let declaration, let step): self = .took(declaration: declaration, step: step)
        case .waits(let number): self = .waits(number)
        case .held(let number, let declaration, let step):
            self = .held(number, declaration: declaration, step: step)
        case .ended(let number, let outcome): self = .ended(number, SeedOutcome(outcome))
        case .issue(let issue): self = .issue(issue.kind, issue.description, SeedPlace(issue.place))
        }
    }
}

/// A request as the program reports it.
struct SeedRequest: Codable, Sendable {
    let method: String
    let url: URL
    let headers: [SeedField]
    let body: Data
    let attempt: Int

    init(_ sent: RecordedRequest) {
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

/// The outcome of a request as the program reports it.
enum SeedOutcome: Codable, Sendable {
    case answered(Int)
    case failed(SeedFailure)
    case cancelled

    init(_ outcome: RecordedRequest.Outcome) {
        switch outcome {
        case .answered(let status): self = .answered(status.rawValue)
        case .failed(let error): self = .failed(SeedFailure(error))
        case .cancelled, .pending: self = .cancelled
        }
    }

    var outcome: RecordedRequest.Outcome {
        switch self {
        case .answered(let status): .answered(HTTPStatus(rawValue: status))
        case .failed(let failure): .failed(failure.apiConnectorError)
        case .cancelled: .cancelled
        }
    }
}

/// The messages between the program and the test.
///
/// Each message is one line of JSON.
enum SeedMessage {
    /// A message of the program, which then waits for the acknowledgment.
    enum FromProgram: Codable, Sendable {
        /// The first message, with the key of the seed.
        case hello(key: String)
        case event(SeedEvent)
    }

    /// A message of the test.
    enum FromTest: Codable, Sendable {
        /// How often earlier launches with the same seed used each step.
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
