// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// A script as a value, for another process.
struct SeedDocument: Codable, Sendable {
    struct Declaration: Codable, Sendable {
        let matcher: MatcherForm
        let place: SeedPlace
        let steps: [Step]
    }

    struct Step: Codable, Sendable {
        enum Answer: Codable, Sendable {
            case response(SeedResponse)
            case held
        }

        let answer: Answer
        let minimum: Int
        let maximum: Int
        let place: SeedPlace
    }

    let place: SeedPlace
    let declarations: [Declaration]

    /// The port on which the test listens, and the key by which it recognizes the program.
    let port: Int
    let key: String
}

/// A place in the code, without the file's path on the machine that built the test.
struct SeedPlace: Codable, Sendable {
    let file: String
    let line: UInt

    init(_ place: CodeLocation) {
        file = place.fileID
        line = place.line
    }

    var place: CodeLocation { CodeLocation(file, "", line) }
}

struct SeedField: Codable, Sendable {
    let name: String
    let value: String

    init(_ field: HTTPHeaders.Field) {
        name = field.name.rawValue
        value = field.value
    }
}

extension HTTPHeaders {
    init(_ fields: [SeedField]) {
        self.init()
        for field in fields { append(Name(field.name), field.value) }
    }
}

/// A canned answer as a value.
struct SeedResponse: Codable, Sendable {
    enum Answer: Codable, Sendable {
        case response(status: Int, headers: [SeedField], body: Data)
        case steps(status: Int, headers: [SeedField], [Step])
        case failure(SeedFailure)
        case never
    }

    enum Step: Codable, Sendable {
        case bytes(Data)
        case pause(Duration)
        case failure(SeedFailure)
    }

    private static let otherCoders = ApiConnectorError(
        .unmatched,
        "Foundation's encoder wrote it, but the program's connection has its own coders; "
            + "make the script with the connection's configuration, Script(for:in:configuration:)"
    )

    let answer: Answer
    let pause: Duration?

    /// Whether Foundation's encoder wrote the body, so that the connection's encoder might write it differently.
    let hasFoundationCoding: Bool

    /// Makes the value of a response.
    ///
    /// ``AdapterLimits/seed`` says whether a seed can contain the response.
    init(_ response: TestConnectorResponse) {
        pause = response.pause?.length
        hasFoundationCoding = response.isUncoded
        switch response.answer {
        case .never: answer = .never
        case .failure(let error): answer = .failure(SeedFailure(error))
        case .broken(let error): answer = .failure(SeedFailure(error))
        case .response(let status, let headers, .data(let body)):
            answer = .response(status: status.rawValue, headers: headers.map(SeedField.init), body: body)
        case .response(let status, let headers, .steps(let steps)):
            answer = .steps(
                status: status.rawValue,
                headers: headers.map(SeedField.init),
                steps.compactMap { step in
                    switch step {
                    case .bytes(let data): .bytes(data)
                    case .pause(let pause): .pause(pause.length)
                    case .failure(let error): .failure(SeedFailure(error))
                    case .feed: nil
                    }
                }
            )
        }
    }

    var response: TestConnectorResponse {
        let answer = answer.answer
        var response =
            if hasFoundationCoding {
                TestConnectorResponse(
                    CannedValue { encoder, _ in encoder.hasDefaultStrategies ? answer : .broken(Self.otherCoders) }
                )
            } else {
                TestConnectorResponse(answer)
            }
        response.pause = pause.map { Pause(length: $0, timeSource: .system) }
        return response
    }
}

extension SeedResponse.Answer {
    fileprivate var answer: TestConnectorResponse.Answer {
        switch self {
        case .never: .never
        case .failure(let failure): .failure(failure.error)
        case .response(let status, let headers, let body):
            .response(HTTPStatus(rawValue: status), HTTPHeaders(headers), .data(body))
        case .steps(let status, let headers, let steps):
            .response(
                HTTPStatus(rawValue: status),
                HTTPHeaders(headers),
                .steps(
                    steps.map { step in
                        switch step {
                        case .bytes(let data): .bytes(data)
                        case .pause(let length): .pause(Pause(length: length, timeSource: .system))
                        case .failure(let failure): .failure(failure.apiConnectorError)
                        }
                    }
                )
            )
        }
    }
}

/// An error that another process can recreate.
enum SeedFailure: Codable, Sendable {
    case urlError(Int)
    case apiConnectorError(kind: String, stage: String, detail: String)

    init(_ error: any Error) {
        let foundation = error as NSError
        if foundation.domain == NSURLErrorDomain {
            self = .urlError(foundation.code)
        } else {
            let known = ApiConnectorError(mapping: error, request: nil)
            self = .apiConnectorError(kind: known.kind.rawValue, stage: known.stage.rawValue, detail: known.detail)
        }
    }

    var error: any Error {
        switch self {
        case .urlError(let number):
            // The initializer is failable on Linux but not on Apple's systems.
            let code: URLError.Code? = URLError.Code(rawValue: number)
            return code.map { URLError($0) } ?? NSError(domain: NSURLErrorDomain, code: number)
        case .apiConnectorError:
            return apiConnectorError
        }
    }

    var apiConnectorError: ApiConnectorError {
        switch self {
        case .urlError: ApiConnectorError(mapping: error, request: nil)
        case .apiConnectorError(let kind, let stage, let detail):
            ApiConnectorError(
                ApiConnectorError.Kind(rawValue: kind),
                at: ApiConnectorError.Stage(rawValue: stage) ?? .provider,
                detail
            )
        }
    }
}

extension JSONEncoder {
    /// Whether the encoder writes values in the same way as a new encoder.
    fileprivate var hasDefaultStrategies: Bool {
        guard case .deferredToDate = dateEncodingStrategy, case .base64 = dataEncodingStrategy,
            case .useDefaultKeys = keyEncodingStrategy, case .throw = nonConformingFloatEncodingStrategy
        else { return false }
        return true
    }
}
