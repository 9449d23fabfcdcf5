// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Alamofire
import ApiConnector
import Testing

@testable import AlamofireAdapter

struct AlamofireProviderTests {
    @Test(arguments: [200, 302, 500])
    func deliversWhatTheSessionBrings(status: Int) async throws {
        let session = Session { request in
            let headers = ["X-Method": request.httpMethod ?? ""]
            let url = request.url ?? URL(filePath: "/")
            let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
            return (head, .success(request.httpBody ?? Data("none".utf8)))
        }
        let url = try #require(URL(string: "http://127.0.0.1/here"))
        let body = RequestBody.stream {
            AsyncStream<Data> {
                $0.yield(Data("streamed".utf8)); $0.finish()
            }
        }
        let request = ApiRequest(url: url, method: .put, body: body)
        let response = try await AlamofireProvider(session: session).response(for: request)
        #expect(response.status.rawValue == status)
        #expect(response.headers["X-Method"] == "PUT")
        #expect(try await response.body.collect(upTo: 100) == Data("streamed".utf8))
    }

    @Test func fallsBackToNoOtherKindThanTheTransportsUse() async throws {
        let failures: [(AFError, ApiConnectorError.Kind)] = [
            (.explicitlyCancelled, .cancelled), (.sessionTaskFailed(error: URLError(.timedOut)), .timedOut),
            (.sessionDeinitialized, .other),
        ]
        let url = try #require(URL(string: "http://127.0.0.1/"))
        for (failure, kind) in failures {
            let provider = AlamofireProvider(session: Session { _ in (nil, .failure(failure)) })
            let error = await #expect(throws: ApiConnectorError.self) {
                try await provider.response(for: ApiRequest(url: url))
            }
            #expect(error?.kind == kind)
        }
    }
}
