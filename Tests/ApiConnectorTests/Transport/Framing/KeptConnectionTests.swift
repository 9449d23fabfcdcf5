// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// The bytes that a response leaves on its connection do not reach the next call.
struct KeptConnectionTests {
    private static let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

    /// RFC 9112, section 9.2: libcurl drops the bytes that it has already read, and closes the connection if more bytes come later.
    @Test(arguments: [
        (HTTPMethod.get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (.get, "HTTP/1.1 204 No Content\r\n\r\n"),
        (.get, "HTTP/1.1 204 No Content\r\nContent-Length: 44\r\n\r\n"),
        (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 44\r\n\r\n"),
        (.get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        (.get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n"),
        (.get, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\n"),
        (.head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ])
    func bytesAfterAResponseAreNotTheNextCallsResponse(_ method: HTTPMethod, _ response: String) async throws {
        let server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                if request.target == "/first" {
                    try connection.send(response + Self.surplus)
                } else {
                    try connection.send(.text("good"), answering: request)
                }
            }
        }
        let provider = CurlProvider(configuration: .patient)
        let first = try await provider.response(for: ApiRequest(url: server.url("/first"), method: method))
        _ = try await first.body.collect(upTo: 100)
        let second = try await provider.response(for: ApiRequest(url: server.url("/second")))
        #expect(try await second.body.collect(upTo: 100) == Data("good".utf8))
    }

    /// libcurl would send the requests of several calls on that connection at once.
    @Test(arguments: ["HTTP/2 200 ", "HTTP/2.0 200 OK"])
    func anHTTP2ResponseIsRefusedOnAnHTTP1Connection(_ line: String) async throws {
        let server = try LoopbackServer { connection in
            while try connection.readRequest() != nil {
                try connection.send("\(line)\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        let provider = CurlProvider(configuration: .patient)
        let error = await #expect(throws: ApiConnectorError.self) {
            _ = try await provider.response(for: ApiRequest(url: server.url()))
        }
        #expect(error?.kind == .malformedResponse)
        // From 8.8 on, libcurl itself refuses the first line.
        let details = [
            "the response starts with \"\(line)\\r\\n\", and not with a status line of HTTP/1.1",
            "libcurl says: Version mismatch (from HTTP/1 to HTTP/2) (code 8)",
        ]
        #expect(details.contains(error?.detail ?? ""))
    }
}
#endif
