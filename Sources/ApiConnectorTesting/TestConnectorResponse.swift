// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// One canned answer: a response, a failure, or silence.
public struct TestConnectorResponse: Sendable {
    private enum Answer: Sendable {
        case response(HTTPStatus, HTTPHeaders, Data)
        case failure(any Error)
        case never
    }

    private let answer: Answer

    /// A value as JSON; status 200 and `Content-Type: application/json` by default.
    ///
    /// Foundation's encoder by default. A value that does not encode fails the call with kind `.encodingFailed`.
    public static func json(
        _ value: some Encodable,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders(),
        encoder: JSONEncoder = JSONEncoder()
    ) -> TestConnectorResponse {
        do {
            let typed: HTTPHeaders = ["Content-Type": "application/json"]
            return .data(try encoder.encode(value), status: status, headers: typed.merging(headers))
        } catch {
            let detail = "the canned value of type \(type(of: value)) does not encode as JSON: \(error)"
            return .failure(ApiConnectorError(.encodingFailed, detail, underlying: error))
        }
    }

    /// Bytes; status 200 and no header fields by default.
    public static func data(
        _ data: Data,
        status: HTTPStatus = 200,
        headers: HTTPHeaders = HTTPHeaders()
    ) -> TestConnectorResponse {
        TestConnectorResponse(answer: .response(status, headers, data))
    }

    /// A status and header fields without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = HTTPHeaders()) -> TestConnectorResponse {
        .data(Data(), status: status, headers: headers)
    }

    /// A failure: an `ApiConnectorError` as it is, a `URLError` as a transport would map it, anything else as `.other`.
    public static func failure(_ error: any Error) -> TestConnectorResponse {
        TestConnectorResponse(answer: .failure(error))
    }

    /// A server that never answers: the call waits until it is cancelled or times out.
    public static let never = TestConnectorResponse(answer: .never)

    /// Answers as a transport would.
    func delivered(to request: ApiRequest) async throws -> ApiResponse {
        switch answer {
        case .response(let status, let headers, let data):
            var response = ApiResponse(to: request, status: status, headers: headers)
            if !response.forbidsBody {
                let limit = request.delivery.maximumByteCount
                response.body = ResponseBody(try await ResponseBody(data).collect(upTo: limit))
            }
            return response
        case .failure(let error):
            throw error
        case .never:
            throw await Silence().end(of: request)
        }
    }
}
