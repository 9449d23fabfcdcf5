// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// Errors that were made before their request was known.
struct CompletedErrorTests {
    @Test func theRequestsSecretsAreRedactedInEveryPartOfTheError() throws {
        let url = try #require(URL(string: "http://h/zebra-kiwi-42"))
        let head = ResponseHead(status: 403, headers: ["X-Note": "for zebra-kiwi-42"], url: url)
        var error = ApiConnectorError(.unacceptableStatus, at: .response, "zebra-kiwi-42 is refused", head: head)
        error.response = ResponseSummary(head, body: Data("no zebra-kiwi-42 here".utf8))
        let request = ApiRequest(
            url: try #require(URL(string: "http://h/a")),
            headers: ["Authorization": "Bearer zebra-kiwi-42"]
        )
        let completed = error.completed(request: request)
        #expect(completed.detail == "REDACTED is refused")
        #expect(completed.response?.headers["X-Note"] == "for REDACTED")
        #expect(completed.response?.url == "http://h/REDACTED")
        #expect(completed.response?.bodyPrefix == "no REDACTED here")
    }

    @Test func knownPartsStay() throws {
        let first = ApiRequest(url: try #require(URL(string: "http://h/a")))
        let second = ApiRequest(url: try #require(URL(string: "http://h/b")))
        let error = ApiConnectorError(.connectionLost, "gone", request: first)
        let completed = error.completed(request: second, elapsed: .seconds(2))
        #expect(completed.request == error.request)
        #expect(completed.elapsed == .seconds(2))
        #expect(completed.completed(request: second, elapsed: .seconds(3)).elapsed == .seconds(2))
    }
}
