// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A canned response on its way to a request, and the exchange that records how it ends.
package struct GivenResponse: Sendable {
    package var canned: TestConnectorResponse

    /// The exchange of a script or a conformance case; nil for other sources.
    package var exchange: OpenExchange?

    package init(canned: TestConnectorResponse, exchange: OpenExchange? = nil) {
        self.canned = canned
        self.exchange = exchange
    }

    /// Delivers the response as a transport would.
    func delivered(to request: ApiRequest) async throws -> ApiResponse {
        if let response = canned.whole(to: request) {
            exchange?.end(.answered(response.status))
            return response
        }
        do {
            if let pause = canned.pause { try await pause.wait(of: request, exchange) }
            switch canned.answer {
            case .response(let status, let headers, let content):
                return try await response(to: request, status, headers, content)
            case .failure(let error):
                throw error
            case .broken(let error):
                throw error
            case .never:
                exchange?.wait()
                let silence = Silence(of: request, timeout: nil)
                exchange?.stopped.whenSet { silence.end($0) }
                throw await silence.wait()
            }
        } catch {
            exchange?.end(error)
            throw error
        }
    }

    private func response(
        to request: ApiRequest,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ content: TestConnectorResponse.Content
    ) async throws(ApiConnectorError) -> ApiResponse {
        var response = ApiResponse(to: request, status: status, headers: headers)
        switch content {
        case .steps(let steps) where !response.forbidsBody:
            response.body = try await SteppedBody(steps, status, exchange).delivered(to: request)
        case .data(let data) where !response.forbidsBody:
            response.body = ResponseBody(try await ResponseBody(data).collect(upTo: request.delivery.maximumByteCount))
            exchange?.end(.answered(status))
        default:
            exchange?.end(.answered(status))
        }
        return response
    }

    /// The canned response alone, for a user's source that returns it.
    ///
    /// The exchange ends here, because the library does not see how the user's source delivers the response.
    package func withoutExchange() -> TestConnectorResponse {
        switch canned.answer {
        case .response(let status, _, _): exchange?.end(.answered(status))
        case .failure(let error): exchange?.end(error)
        case .broken(let error): exchange?.end(error)
        case .never: exchange?.wait()
        }
        return canned
    }
}
