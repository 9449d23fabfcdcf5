// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Testing

/// Requests that a collection refuses, and items that it cannot show.
struct FakeRefusalTests {
    private struct Unwritable: Codable, Sendable {
        var id: Int
        var number: Double
    }

    private func answer(
        _ provider: some DataRequestType,
        _ method: HTTPMethod,
        _ path: String
    ) async throws -> (status: Int, message: String?) {
        let request = ApiRequest(url: try #require(URL(string: "http://h\(path)")), method: method)
        let response = try await provider.response(for: request)
        let body = try await response.body.collect(upTo: .max)
        let json = try? JSONDecoder().decode(JSONValue.self, from: body)
        return (response.status.rawValue, json?["message"].string)
    }

    @Test func aPostToAnItemIsRefused() async throws {
        let teas = FakeCollection("/teas", of: [Tea.green], by: \.id)
        let answer = try await answer(TestConnector(teas), .post, "/teas/1")
        #expect(answer == (405, "POST is not allowed here."))
    }

    @Test(arguments: ["/numbers", "/numbers/1"])
    func anItemThatDoesNotEncodeIsAServerError(_ path: String) async throws {
        let numbers = FakeCollection("/numbers", of: [Unwritable(id: 1, number: .nan)], by: \.id)
        let answer = try await answer(TestConnector(numbers), .get, path)
        #expect(answer.status == 500)
        #expect(answer.message?.contains("does not encode as JSON") == true)
    }
}
