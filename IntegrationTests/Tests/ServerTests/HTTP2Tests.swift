// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// HTTP/2 over TLS, to an nginx.
@Suite(.enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
struct HTTP2Tests {
    private let nginx: Nginx
    private let provider: CurlProvider

    init() throws {
        nginx = try Nginx()
        provider = CurlProvider.trusting(nginx.authority)
    }

    private func streamed(_ path: String) throws -> ApiRequest {
        var request = ApiRequest(url: try nginx.secure(path))
        request.delivery = .streamed
        return request
    }

    @Test func isNegotiatedWhereTheServerHasIt() async throws {
        let response = try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
        #expect(response.headers["X-Protocol"] == "HTTP/2.0")
        #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
        let plain = try await provider.response(for: ApiRequest(url: nginx.plain("/small")))
        #expect(plain.headers["X-Protocol"] == "HTTP/1.1")
        let old = try await CurlProvider.trusting(nginx.authority) { $0.httpVersion = .http1 }
            .response(for: ApiRequest(url: nginx.secure("/small")))
        #expect(old.headers["X-Protocol"] == "HTTP/1.1")
    }

    @Test func isSpokenAtOnceToAServerThatIsKnownToSpeakIt() async throws {
        let url = try nginx.priorKnowledge("/small")
        let provider = CurlProvider.trusting(nginx.authority) { $0.httpVersion = .http2PriorKnowledge }
        #expect(try await provider.response(for: ApiRequest(url: url)).headers["X-Protocol"] == "HTTP/2.0")
    }

    @Test func carriesManyRequestsOnOneConnection() async throws {
        let url = try nginx.secure("/small")
        let connections = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 {
                group.addTask { [provider] in
                    let response = try await provider.response(for: ApiRequest(url: url))
                    #expect(response.headers["X-Protocol"] == "HTTP/2.0")
                    return response.headers["X-Connection"]
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(connections.count == 100)
        #expect(Set(connections).count == 1)
    }

    /// Eight different bodies are sent in each direction at the same time.
    @Test func carriesBodiesUpAndDownAtTheSameTime() async throws {
        let bodies = (0..<8).map { Data.pattern(3_000_000, seed: $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, body) in bodies.enumerated() {
                let url = try nginx.secure("/up/\(number)")
                group.addTask { [provider] in
                    let up = try await provider.response(
                        for: ApiRequest(url: url, method: .put, body: .data(body))
                    )
                    #expect(up.status == 201)
                    #expect(up.headers["X-Protocol"] == "HTTP/2.0")
                    let down = try await provider.response(for: ApiRequest(url: url))
                    #expect(try await down.body.collect(upTo: 4_000_000) == body)
                }
            }
            try await group.waitForAll()
        }
        for (number, body) in bodies.enumerated() {
            #expect(try Data(contentsOf: nginx.files.appending(path: "up/\(number)")) == body)
        }
    }

    @Test func uploadsFromASourceOfUnknownLength() async throws {
        let body = RequestBody.stream {
            AsyncStream { continuation in
                for number in 0..<100 { continuation.yield(Data(repeating: UInt8(number), count: 10_000)) }
                continuation.finish()
            }
        }
        let request = ApiRequest(url: try nginx.secure("/up/source"), method: .put, body: body)
        let response = try await provider.response(for: request)
        #expect(response.status == 201)
        #expect(response.headers["X-Protocol"] == "HTTP/2.0")
        let expected = (0..<100).reduce(into: Data()) { $0 += Data(repeating: UInt8($1), count: 10_000) }
        #expect(try Data(contentsOf: nginx.files.appending(path: "up/source")) == expected)
    }

    @Test(arguments: [false, true])
    func streamsOverHTTP1UnlessAskedForHTTP2(_ streamsOverHTTP2: Bool) async throws {
        let file = Data.pattern(5_000_000)
        try file.write(to: nginx.files.appending(path: "file"))
        let provider = CurlProvider.trusting(nginx.authority) { $0.streamsOverHTTP2 = streamsOverHTTP2 }
        let response = try await provider.response(for: streamed("/file"))
        #expect(response.headers["X-Protocol"] == (streamsOverHTTP2 ? "HTTP/2.0" : "HTTP/1.1"))
        // A collected call that runs at the same time still uses HTTP/2.
        let neighbor = try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
        #expect(neighbor.headers["X-Protocol"] == "HTTP/2.0")
        #expect(try await response.body.collect(upTo: 6_000_000) == file)
    }

    /// This provider allows streams over HTTP/2.
    @Test func leavesNeighborsOfAPausedStreamTheConnection() async throws {
        try Data(count: 64 << 20).write(to: nginx.files.appending(path: "huge"))
        let provider = CurlProvider.trusting(nginx.authority) { $0.streamsOverHTTP2 = true }
        let paused = try await provider.response(for: streamed("/huge"))
        for _ in 0..<20 {
            let neighbor = try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
            #expect(neighbor.headers["X-Connection"] == paused.headers["X-Connection"])
        }
        var byteCount = 0
        for try await chunk in paused.body { byteCount += chunk.count }
        #expect(byteCount == 64 << 20)
    }
}
#endif
