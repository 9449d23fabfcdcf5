// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A server that closes a reused connection after it has read a request, and counts what it reads.
struct CurlResendTests {
    private let provider = CurlProvider(configuration: .patient)

    /// The first connection answers one request, reads the second and closes; every other one answers.
    private func closingServer() throws -> LoopbackServer {
        try LoopbackServer { connection in
            var count = 0
            while let request = try connection.readRequest() {
                count += 1
                if connection.index == 0, count == 2 { return }
                try connection.send(.text("ok"), answering: request)
            }
        }
    }

    private func request(_ method: HTTPMethod, to server: LoopbackServer, body: RequestBody = .empty) -> ApiRequest {
        ApiRequest(url: server.url(), method: method, body: body)
    }

    @Test(arguments: ["POST", "PATCH", "MKCOL"] as [HTTPMethod])
    func sendsANonIdempotentRequestOnce(_ method: HTTPMethod) async throws {
        let server = try closingServer()
        _ = try await provider.response(for: request(.get, to: server))
        guard Libcurl.asks else {
            let response = try await provider.response(for: request(method, to: server, body: .text("once")))
            #expect(response.status == 200)
            #expect(server.requests.map(\.connection) == [0, 1])
            return
        }
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request(method, to: server, body: .text("once")))
        }
        #expect(error?.kind == .connectionLost)
        #expect(error?.bytesSent == .all)
        #expect(
            error?.detail
                == "the connection ended after the request was sent and before a response came; the server may have "
                + "processed the request, and \(method) is not sent twice"
        )
        #expect(server.requests.map(\.method) == ["GET", method.rawValue])
    }

    @Test(arguments: [.get, .put, .delete, .options] as [HTTPMethod])
    func sendsAnIdempotentRequestAgain(_ method: HTTPMethod) async throws {
        let server = try closingServer()
        _ = try await provider.response(for: request(.get, to: server))
        let body: RequestBody = method == .put ? .text("twice") : .empty
        let response = try await provider.response(for: request(method, to: server, body: body))
        #expect(response.status == 200)
        #expect(server.requests.map(\.method) == ["GET", method.rawValue, method.rawValue])
        #expect(server.requests.last?.body == Data(method == .put ? "twice".utf8 : "".utf8))
    }

    @Test func sendsAPostWithAnIdempotencyKeyAgain() async throws {
        let server = try closingServer()
        _ = try await provider.response(for: request(.get, to: server))
        var post = request(.post, to: server, body: .text("keyed"))
        post.headers["Idempotency-Key"] = "1"
        #expect(try await provider.response(for: post).status == 200)
        #expect(server.requests.count == 3)
    }

    /// A body that libcurl pulls, instead of one that it gets in one piece.
    @Test(arguments: [.post, .put] as [HTTPMethod])
    func treatsAnUploadAsAnyOtherBody(_ method: HTTPMethod) async throws {
        let data = Data.counting(by: 7, byteCount: 2_000_000)
        let server = try closingServer()
        _ = try await provider.response(for: request(.get, to: server))
        var upload = request(method, to: server, body: .data(data))
        upload.headers["Expect"] = ""
        if method == .put || !Libcurl.asks {
            #expect(try await provider.response(for: upload).status == 200)
        } else {
            let error = await #expect(throws: ApiConnectorError.self) { try await provider.response(for: upload) }
            #expect(error?.kind == .connectionLost)
            #expect(error?.bytesSent == .all)
        }
        #expect(server.requests.map(\.body.count) == (method == .post ? [0, 2_000_000] : [0, 2_000_000, 2_000_000]))
    }

    @Test func sendsABodyThatIsNotReplayableOnce() async throws {
        let server = try closingServer()
        _ = try await provider.response(for: request(.get, to: server))
        let body = RequestBody.stream(isReplayable: false) {
            AsyncStream { continuation in
                continuation.yield(Data("once".utf8))
                continuation.finish()
            }
        }
        let error = await #expect(throws: ApiConnectorError.self) {
            try await provider.response(for: request(.put, to: server, body: body))
        }
        #expect(error?.kind == .notReplayable)
        #expect(server.requests.count == 2)
    }
}
#endif
