// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// One canned answer: a response, a failure, or silence.
///
/// Methods add timing and faults: ``after(_:on:)``, ``chunked(byteCount:)``, ``failing(_:with:)``.
public struct TestConnectorResponse: Sendable {
    package enum Answer: Sendable {
        case response(HTTPStatus, HTTPHeaders, Content)
        case failure(any Error)
        case never
        /// A response that cannot be made because of a mistake in the test.
        indirect case broken(ApiConnectorError)
    }

    package enum Content: Sendable {
        case data(Data)
        case steps([BodyStep])
    }

    package var answer: Answer
    /// The delay before the head.
    package var pause: Pause?
    /// Makes the same answer with a connection's coders; nil for an answer that was not made from a value.
    package var recode: (@Sendable (JSONEncoder, JSONDecoder) -> TestConnectorResponse)?

    package init(_ answer: Answer) {
        self.answer = answer
    }

    /// A response with a value as JSON; status 200 and `Content-Type: application/json` by default.
    ///
    /// By default the encoder of the calling connection writes the value, so that the connection's decoder can read it.
    /// If the value does not encode, the call fails with kind `.encodingFailed`, and the script has an issue.
    public static func json(
        _ value: some Encodable & Sendable,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        encoder: JSONEncoder? = nil
    ) -> TestConnectorResponse {
        do {
            var response = json(try (encoder ?? JSONEncoder()).encode(value), status, headers)
            if encoder == nil {
                response.recode = { encoder, _ in .json(value, status: status, headers: headers, encoder: encoder) }
            }
            return response
        } catch {
            let detail = "the canned value of type \(type(of: value)) does not encode as JSON: \(error)"
            return TestConnectorResponse(.broken(ApiConnectorError(.encodingFailed, detail, underlying: error)))
        }
    }

    /// A response with JSON that has no model, such as a literal whose values have different types.
    ///
    /// It is otherwise like ``json(_:status:headers:encoder:)``.
    public static func json(
        _ value: JSONValue,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        json(Data(value.description.utf8), status, headers)
    }

    package static func json(_ body: Data, _ status: HTTPStatus, _ headers: HTTPHeaders) -> TestConnectorResponse {
        let typed: HTTPHeaders = ["Content-Type": "application/json"]
        return .data(body, status: status, headers: typed.merging(headers))
    }

    /// A response with bytes; status 200 and no header fields by default.
    public static func data(
        _ data: Data,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        TestConnectorResponse(.response(status, headers, .data(data)))
    }

    /// A response with text in UTF-8; status 200 and `Content-Type: text/plain; charset=utf-8` by default.
    public static func text(
        _ text: String,
        status: HTTPStatus = 200,
        mediaType: MediaType = MediaType("text", "plain", parameters: [.init(name: "charset", value: "utf-8")])
    ) -> TestConnectorResponse {
        .data(Data(text.utf8), status: status, headers: [.contentType: mediaType.description])
    }

    /// A response with a file's bytes, which are read now; status 200 and `Content-Type: application/json` by default.
    ///
    /// If the file cannot be read, the call fails with an error that names the file, and the script has an issue.
    public static func file(
        _ file: URL,
        mediaType: MediaType = .json,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        do {
            let typed: HTTPHeaders = [.contentType: mediaType.description]
            return .data(try Data(contentsOf: file), status: status, headers: typed.merging(headers))
        } catch {
            let detail = "the file \(file.lastPathComponent) of a canned answer cannot be read"
            return TestConnectorResponse(.broken(ApiConnectorError(.other, detail, underlying: error)))
        }
    }

    /// A response with a status and header fields, without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders()) -> TestConnectorResponse {
        .data(Data(), status: status, headers: headers)
    }

    /// A failure.
    ///
    /// An `ApiConnectorError` is thrown unchanged. A `URLError` is mapped as a transport maps it. Any other error
    /// becomes kind `.other`.
    public static func failure(_ error: any Error) -> TestConnectorResponse {
        TestConnectorResponse(.failure(error))
    }

    /// A server that never answers: the call waits until it is canceled or times out, or its script ends.
    public static let never = TestConnectorResponse(.never)

    /// The answer, with its JSON written by the calling connection's encoder.
    func coded(for request: ApiRequest) -> TestConnectorResponse {
        guard let recode, let encoder = request.encoder, let decoder = request.decoder else { return self }
        return replaced(by: recode(encoder, decoder))
    }

    /// The other answer, with this answer's delay.
    func replaced(by other: TestConnectorResponse) -> TestConnectorResponse {
        var response = other
        response.pause = pause
        response.recode = nil
        return response
    }

    /// The response, if the answer has no delay, no steps and no failure, like most answers; otherwise nil.
    func whole(to request: ApiRequest) -> ApiResponse? {
        guard pause == nil, case .response(let status, let headers, .data(let data)) = answer,
            data.count <= request.delivery.maximumByteCount
        else { return nil }
        let response = ApiResponse(to: request, status: status, headers: headers, body: ResponseBody(data))
        return response.forbidsBody ? ApiResponse(to: request, status: status, headers: headers) : response
    }

    /// Status and bytes of a body that is known in advance, in one piece or several.
    package var canned: (HTTPStatus, Data)? {
        guard case .response(let status, _, let content) = answer else { return nil }
        switch content {
        case .data(let data): return (status, data)
        case .steps(let steps):
            var body = Data()
            for step in steps {
                switch step {
                case .bytes(let data): body += data
                case .pause: break
                case .failure, .feed: return nil
                }
            }
            return (status, body)
        }
    }

    /// A short description for a list of answers.
    var summary: String {
        switch answer {
        case .response(let status, _, _): status.description
        case .failure: "a failure"
        case .never: "silence"
        case .broken: "an invalid answer"
        }
    }
}
