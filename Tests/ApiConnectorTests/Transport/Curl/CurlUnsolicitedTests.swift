// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A server that sends something on an idle HTTP/1.1 connection.
struct CurlUnsolicitedTests {
    private let provider = CurlProvider(configuration: .patient)

    @Test(
        arguments: [.get, .post] as [HTTPMethod],
        [
            "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "x",
        ]
    ) func anUnsolicitedResponseAnswersNoCall(_ method: HTTPMethod, _ unsolicited: String) async throws {
        let isAnswered = Gate("first response")
        let isSent = Gate("unsolicited response")
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                try connection.send(.text("good"), answering: request)
                guard connection.index == 0 else { continue }
                try connection.wait(for: isAnswered)
                try connection.send(unsolicited)
                try connection.waitUntilDelivered()
                isSent.open()
            }
        }
        for number in 0..<3 {
            let request = ApiRequest(url: server.url("/\(number)"), method: method, body: .text("body"))
            let response = try await provider.response(for: request)
            #expect(response.status == 200)
            #expect(try await response.body.collect(upTo: 100) == Data("good".utf8))
            if number == 0 {
                isAnswered.open()
                try await isSent.opened()
            }
        }
        #expect(server.requests.map(\.target) == ["/0", "/1", "/2"])
        #expect(server.requests.map(\.connection) == [0, 1, method == .get || Libcurl.asks ? 1 : 2])
    }
}
#endif
