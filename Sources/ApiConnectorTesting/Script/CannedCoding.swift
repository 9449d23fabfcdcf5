// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Makes the bodies of canned values as the backend would, and reads them back as the connection will.
struct CannedCoding<Router: ApiRouter>: Sendable {
    typealias Envelope = Router.EnvelopeType

    let configuration: ConnectionConfiguration

    /// What each body of an accepted answer has to decode as.
    let type: (any (Decodable & Sendable).Type)?

    func response<Value: Codable>(
        holding value: Value,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders
    ) -> Result<TestConnectorResponse, Misfit> {
        Result { () throws(Misfit) in
            let json = try encoded(value)
            let body = (Envelope.self as? any CannedEnvelope.Type)?.body(holding: json) ?? json
            try check(body, as: Value.self, json)
            return .json(body, status, headers)
        }
    }

    func response(
        reporting failure: Envelope.Failure,
        _ status: HTTPStatus
    ) -> Result<TestConnectorResponse, Misfit> where Envelope.Failure: Encodable {
        Result { () throws(Misfit) in
            let json = try encoded(failure)
            let body = (Envelope.self as? any CannedEnvelope.Type)?.body(reporting: json) ?? json
            guard Envelope.failure(in: body, with: configuration.decoder) != nil else {
                throw Misfit(
                    "\(Envelope.self) finds no failure in \(Misfit.shown(body)); \(Misfit.advice(Envelope.self))"
                )
            }
            return .json(body, status, HTTPHeaders())
        }
    }

    /// Checks what is not made of a value.
    func check(_ response: TestConnectorResponse) throws(Misfit) {
        if case .broken(let error) = response.answer { throw Misfit(error.detail) }
        guard let type, let (status, body) = response.canned, status.isSuccess else { return }
        try check(body, as: type, nil)
    }

    private func encoded(_ value: some Encodable) throws(Misfit) -> Data {
        do {
            return try configuration.encoder.encode(value)
        } catch {
            throw Misfit("the value of type \(Swift.type(of: value)) does not encode as JSON: \(error)")
        }
    }

    /// - Parameter json: The value without its envelope, where it is known.
    private func check<Value: Decodable>(_ body: Data, as type: Value.Type, _ json: Data?) throws(Misfit) {
        let reason: any Error
        do {
            switch try Envelope.open(type, from: body, with: configuration.decoder) {
            case .value: return
            case .failure: throw Misfit("it holds an error of the backend's own, and no \(type)")
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

    /// Why JSON does not decode as a type, in the library's words; nil if it does.
    private func failure<Value: Decodable>(decoding type: Value.Type, from json: Data) -> String? {
        do {
            let value = try JSONDecoder().decode(JSONValue.self, from: json)
            _ = try value.decoded(as: type, with: configuration.decoder)
            return nil
        } catch let error as ApiConnectorError {
            return error.detail
        } catch {
            return "its body is no JSON: \(Misfit.shown(json))"
        }
    }
}

/// Why a canned answer does not fit its route.
struct Misfit: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
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
