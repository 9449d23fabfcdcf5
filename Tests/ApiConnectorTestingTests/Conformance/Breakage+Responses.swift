// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let responses: [Breakage] = [
        .response(
            "joins a repeated response field",
            caughtBy: "keeps repeated header fields separate",
            "keeps repeated Set-Cookie fields separate"
        ) { $0.headers = $0.headers.joined },
        .response("sorts the response's fields", caughtBy: "delivers header fields in their order") {
            $0.headers = $0.headers.sorted
        },
        .response("leaves out a response field without a value", caughtBy: "delivers a header field without a value") {
            response in
            for field in response.headers where field.value.isEmpty { response.headers.remove(field.name) }
        },
        .response("takes a field for ISO 8859-1", caughtBy: "delivers a value in UTF-8") { response in
            for field in response.headers where field.value.utf8.contains(where: { $0 > 127 }) {
                response.headers[field.name] = String(data: Data(field.value.utf8), encoding: .isoLatin1)
            }
        },
        .response(
            "tells another URL",
            caughtBy: "delivers status, header fields, body and URL",
            "delivers a redirect and does not follow it"
        ) { $0.url = $0.url.deletingLastPathComponent() },
        .response("tells another request", caughtBy: "names the request in its response") {
            $0.request = ApiRequest(url: $0.url)
        },
        .response(
            "rounds a status that it does not know",
            caughtBy: "delivers an unknown status"
        ) { response in
            if [226, 299, 399, 499, 599].contains(response.status.rawValue) {
                response.status = HTTPStatus(rawValue: response.status.rawValue / 100 * 100)
            }
        },
        .response(
            "drops the body of a failure",
            caughtBy: "delivers every status as a response",
            "delivers an unknown status",
            "delivers the body of a 404 and a 500",
            "delivers a 401 of any scheme with its body",
            "sends a request once, regardless of the status"
        ) { response in
            if response.status.rawValue >= 400 { response.body = ResponseBody(Data()) }
        },
        .whole(
            "takes a status of failure for an error",
            caughtBy: [
                "delivers every status as a response", "delivers an unknown status",
                "delivers the body of a 404 and a 500", "delivers a 401 of any scheme with its body",
                "sends a request once, regardless of the status",
            ]
        ) { request, provider in
            let response = try await provider.response(for: request)
            guard response.status.rawValue >= 400 else { return response }
            throw ApiConnectorError(.unacceptableStatus, "the server failed", request: request)
        },
        .whole(
            "lets a body pass its limit",
            caughtBy: ["fails a body one byte over the limit", "fails a chunked body over the limit"]
        ) { request, provider in
            var request = request
            if case .collected(upTo: 5) = request.delivery { request.delivery = .collected(upTo: 6) }
            return try await provider.response(for: request)
        },
        .whole(
            "takes what came of a body for all of it",
            caughtBy: [
                "fails when the body is shorter than its length",
                "fails when the body of a 500 is shorter than its length",
                "fails when the connection is reset inside the body",
                "fails when the last chunk is missing",
                "fails when a chunk ends before its length",
                "works after a failure",
                "yields the chunks before a lost connection, then fails",
            ]
        ) { request, provider in
            guard case .collected(upTo: let limit) = request.delivery, limit > 1_000_000 else {
                return try await provider.response(for: request).endingEarly(at: request)
            }
            var streamed = request
            streamed.delivery = .streamed
            var response = try await provider.response(for: streamed).endingEarly(at: streamed)
            do {
                response.body = ResponseBody(try await response.body.collect(upTo: limit))
            } catch let error as ApiConnectorError {
                throw ApiConnectorError(error.kind, error.detail, request: request)
            }
            return response
        },
    ]
}

extension ApiResponse {
    /// The same, where it is streamed, with a body that ends where it is lost.
    fileprivate func endingEarly(at request: ApiRequest) -> ApiResponse {
        guard request.delivery == .streamed else { return self }
        var response = self
        response.body = body.pulled { (pull) async throws(ApiConnectorError) -> Data? in
            do throws(ApiConnectorError) {
                return try await pull()
            } catch {
                if error.kind == .connectionLost { return nil }
                throw error
            }
        }
        return response
    }
}
