// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An envelope that a test double can also write.
///
/// So a test can declare canned values without the envelope.
///
/// ```swift
/// extension StatusEnvelope: CannedEnvelope {
///     static func body(holding value: Data) -> Data { Data(#"{"result":"#.utf8) + value + Data("}".utf8) }
///     static func body(reporting failure: Data) -> Data { failure }
/// }
/// ```
public protocol CannedEnvelope: ApiEnvelope {
    /// The body around a value's JSON.
    static func body(holding value: Data) -> Data

    /// The body around a failure's JSON.
    static func body(reporting failure: Data) -> Data
}

extension BareEnvelope: CannedEnvelope {
    /// Returns the value's JSON unchanged, because there is no envelope.
    public static func body(holding value: Data) -> Data { value }

    /// Returns the failure's JSON unchanged, because there is no envelope.
    public static func body(reporting failure: Data) -> Data { failure }
}

extension DataEnvelope: CannedEnvelope {
    /// `{"data": …}`.
    public static func body(holding value: Data) -> Data { object("data", value) }

    /// `{"error": …}`.
    public static func body(reporting failure: Data) -> Data { object("error", failure) }
}

extension JSONAPIEnvelope: CannedEnvelope {
    /// `{"data": …}`.
    public static func body(holding value: Data) -> Data { object("data", value) }

    /// `{"errors": […]}`.
    public static func body(reporting failure: Data) -> Data { object("errors", failure) }
}

private func object(_ key: String, _ value: Data) -> Data {
    Data("{\"\(key)\":".utf8) + value + Data("}".utf8)
}

/// Encodes canned values as the backend would, and decodes the bodies as the connection will, to check them.
struct CannedCoding<Router: ApiRouter>: Sendable {
    typealias Envelope = Router.EnvelopeType

    var configuration: ConnectionConfiguration

    /// Whether the script's configuration has coders; otherwise the calling connection's coders are used.
    let hasOwnCoders: Bool

    /// The type that each body of an accepted answer must decode as.
    let type: (any (Decodable & Sendable).Type)?

    typealias Answer = TestConnectorResponse.Answer

    /// The response with a value in the router's envelope.
    func response<Value: Codable & Sendable>(
        holding value: Value,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
    ) throws(Misfit) -> TestConnectorResponse {
        let response = try response { coding throws(Misfit) in try coding.answer(holding: value, status, headers) }
        if type != Value.self { try check(response) }
        return response
    }

    /// The response with a backend's error in the router's envelope.
    func response(
        reporting failure: Envelope.Failure,
        _ status: HTTPStatus?
    ) throws(Misfit) -> TestConnectorResponse where Envelope.Failure: Encodable {
        let response = try response { coding throws(Misfit) in try coding.answer(reporting: failure, status) }
        try check(response)
        return response
    }

    /// The response that a test made, encoded if the script has its own coders.
    func response(_ response: TestConnectorResponse) throws(Misfit) -> TestConnectorResponse {
        let response = hasOwnCoders ? response.coded(configuration.encoder, configuration.decoder) : response
        try check(response)
        return response
    }

    /// Encodes an answer now, to check it.
    ///
    /// If the script has no coders, the connection's coders encode it again when it is delivered, unless they are
    /// Foundation's default ones.
    private func response(
        _ answer: @escaping @Sendable (CannedCoding) throws(Misfit) -> Answer
    ) throws(Misfit) -> TestConnectorResponse {
        let checked = try answer(self)
        if hasOwnCoders { return TestConnectorResponse(checked) }
        let coders = (configuration.encoder, configuration.decoder)
        return TestConnectorResponse(
            CannedValue(checked: checked, with: coders) { encoder, decoder in
                do throws(Misfit) {
                    return try answer(with(encoder, decoder))
                } catch {
                    let detail = "with the connection's coders, \(error.sentence)"
                    return .broken(ApiConnectorError(.unmatched, detail))
                }
            }
        )
    }

    /// A copy with a connection's coders.
    private func with(_ encoder: JSONEncoder, _ decoder: JSONDecoder) -> CannedCoding {
        var coding = self
        coding.configuration.encoder = encoder
        coding.configuration.decoder = decoder
        return coding
    }

    private func answer<Value: Codable & Sendable>(
        holding value: Value,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
    ) throws(Misfit) -> Answer {
        let json = try encoded(value)
        let body = (Envelope.self as? any CannedEnvelope.Type)?.body(holding: json) ?? json
        try check(body, as: Value.self, json)
        return .json(body, status, headers)
    }

    private func answer(
        reporting failure: Envelope.Failure,
        _ status: HTTPStatus?
    ) throws(Misfit) -> Answer where Envelope.Failure: Encodable {
        let json = try encoded(failure)
        let body = (Envelope.self as? any CannedEnvelope.Type)?.body(reporting: json) ?? json
        guard Envelope.failure(in: body, with: configuration.decoder) != nil else {
            throw Misfit("\(Envelope.self) finds no failure in \(Misfit.shown(body)); \(Misfit.advice(Envelope.self))")
        }
        if let status, status.isSuccess, isValue(body) {
            throw Misfit(
                "\(Envelope.self) decodes the body of a \(status.rawValue) as a value; "
                    + "leave the status out, or give an error status"
            )
        }
        return .json(body, status ?? (isValue(body) ? 400 : 200), HTTPHeaders())
    }

    /// Whether the envelope decodes the body of an accepted response as a value.
    private func isValue(_ body: Data) -> Bool {
        guard case .value? = try? Envelope.open(JSONValue.self, from: body, with: configuration.decoder) else {
            return false
        }
        return true
    }

    /// Checks a response against the route's type.
    private func check(_ response: TestConnectorResponse) throws(Misfit) {
        if case .broken(let error) = response.answer { throw Misfit(error.detail) }
        guard let type, let (status, body) = response.canned, status.isSuccess else { return }
        do throws(Misfit) {
            try check(body, as: type, nil)
        } catch {
            guard !hasOwnCoders, let coding = coding(reading: body, as: type) else { throw error }
            throw error.advising(coding)
        }
    }

    /// The coding that decodes a body that Foundation's default coders cannot decode; nil if there is no such coding.
    private func coding(reading body: Data, as type: any (Decodable & Sendable).Type) -> String? {
        let dates: [(String, JSONCoding.DateStyle)] = [
            (".iso8601", .iso8601), (".secondsSince1970", .secondsSince1970),
        ]
        for (name, style) in dates {
            for (keyName, keys) in [("", JSONCoding.KeyStyle.asDeclared), (", keys: .snakeCase", .snakeCase)] {
                let json = JSONCoding(dates: style, keys: keys)
                let coding = with(json.makeEncoder(), json.makeDecoder())
                do throws(Misfit) {
                    try coding.check(body, as: type, nil)
                    return "JSONCoding(dates: \(name)\(keyName))"
                } catch {}
            }
        }
        return nil
    }

    private func encoded(_ value: some Encodable) throws(Misfit) -> Data {
        do {
            return try configuration.encoder.encode(value)
        } catch {
            throw Misfit("the value of type \(Swift.type(of: value)) does not encode as JSON: \(error)")
        }
    }

    /// - Parameter json: The value without its envelope, if known.
    private func check<Value: Decodable>(_ body: Data, as type: Value.Type, _ json: Data?) throws(Misfit) {
        let reason: any Error
        do {
            switch try Envelope.open(type, from: body, with: configuration.decoder) {
            case .value: return
            case .failure: throw Misfit("it has the backend's own error instead of a \(type)")
            }
        } catch {
            reason = error
        }
        if let misfit = reason as? Misfit { throw misfit }
        if let error = failure(decoding: type, from: json ?? body) { throw Misfit(error) }
        throw Misfit(
            "\(Envelope.self) finds no \(type) in \(Misfit.shown(body)); \(Misfit.advice(Envelope.self))"
        )
    }

    /// The library's error text if JSON does not decode as a type; nil if it does.
    private func failure<Value: Decodable>(decoding type: Value.Type, from json: Data) -> String? {
        do {
            let value = try JSONDecoder().decode(JSONValue.self, from: json)
            _ = try value.decoded(as: type, with: configuration.decoder)
            return nil
        } catch let error as ApiConnectorError {
            return error.detail
        } catch {
            return "its body is not JSON: \(Misfit.shown(json))"
        }
    }
}

/// The reason why a canned answer does not match its route.
struct Misfit: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }

    /// The same error, with advice for a script without its own coders.
    ///
    /// - Parameter coding: The coding that decodes the body.
    func advising(_ coding: String) -> Misfit {
        Misfit(
            "\(sentence); \(coding) reads it: make the script with the connection's configuration, "
                + "Script(for:in:configuration:)"
        )
    }

    static func shown(_ body: Data) -> String {
        RequestMatcher.shown(body, .json).map { $0.count > 120 ? $0.prefix(120) + "…" : $0 } ?? "an empty body"
    }

    static func advice(_ envelope: Any.Type) -> String {
        envelope is any CannedEnvelope.Type
            ? "give the whole body as .json(…)"
            : "make \(envelope) a CannedEnvelope, or give the whole body as .json(…)"
    }
}
