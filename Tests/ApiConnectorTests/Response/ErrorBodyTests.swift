// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

/// How much of a body an error shows.
struct ErrorBodyTests {
    private func failure<Value: Decodable & Sendable>(
        _ type: Value.Type,
        _ body: String,
        status: HTTPStatus = 200
    ) async -> ApiConnectorError? {
        let transport = TestConnector { _ in
            .data(Data(body.utf8), status: status, headers: ["Content-Type": "application/json"])
        }
        let api = NetworkConnector(environment: Place(), provider: transport, router: Endpoint<ApiPath>.self)
        return await #expect(throws: ApiConnectorError.self) { try await api.value(type, at: Endpoint(path: "/a")) }
    }

    @Test(arguments: [(1023, 1023, false), (1024, 1024, false), (1025, 1024, true)])
    func anErrorKeepsTheFirst1024Bytes(_ count: Int, _ kept: Int, _ isTruncated: Bool) async {
        let error = await failure(Int.self, String(repeating: "a", count: count), status: 500)
        #expect(error?.response?.bodyPrefix == String(repeating: "a", count: kept))
        #expect(error?.response?.isBodyTruncated == isTruncated)
    }
}
