// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// HTTP/1.1 to an nginx, over both transports.
@Suite(.enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
struct HTTP1Tests {
    enum Transport: CaseIterable {
        case curl, session

        fileprivate var provider: AnyProvider {
            switch self {
            case .curl: AnyProvider(CurlProvider(configuration: CurlConfiguration()))
            case .session: AnyProvider(URLSessionProvider(configuration: .ephemeral))
            }
        }
    }

    private let nginx: Nginx

    init() throws {
        nginx = try Nginx()
    }

    @Test(arguments: Transport.allCases) func keepsAConnection(_ transport: Transport) async throws {
        let provider = transport.provider
        var connections: Set<String?> = []
        for _ in 0..<10 {
            let response = try await provider.response(for: ApiRequest(url: nginx.plain("/small")))
            #expect(try await response.body.collect(upTo: 100) == Data("hello".utf8))
            connections.insert(response.headers["X-Connection"])
        }
        #expect(connections.count == 1)
    }

    @Test(arguments: Transport.allCases) func asksForCompressionAndUndoesIt(_ transport: Transport) async throws {
        let text = Data((0..<20_000).map { "line \($0)\n" }.joined().utf8)
        try text.write(to: nginx.files.appending(path: "text.txt"))
        let response = try await transport.provider.response(for: ApiRequest(url: nginx.plain("/text.txt")))
        #expect(response.headers["Content-Encoding"] == "gzip")
        #expect(try await response.body.collect(upTo: text.count) == text)
    }

    @Test(arguments: Transport.allCases) func deliversARange(_ transport: Transport) async throws {
        try Data("0123456789".utf8).write(to: nginx.files.appending(path: "digits"))
        var request = ApiRequest(url: try nginx.plain("/digits"))
        request.headers["Range"] = "bytes=3-5"
        let response = try await transport.provider.response(for: request)
        #expect(response.status == 206)
        #expect(response.headers["Content-Range"] == "bytes 3-5/10")
        #expect(try await response.body.collect(upTo: 100) == Data("345".utf8))
        request.headers["Range"] = "bytes=10-"
        #expect(try await transport.provider.response(for: request).status == 416)
    }

    @Test(arguments: Transport.allCases) func uploadsABodyOf32MiB(_ transport: Transport) async throws {
        let body = Data.pattern(32 << 20)
        let request = ApiRequest(url: try nginx.plain("/up/large"), method: .put, body: .data(body))
        #expect(try await transport.provider.response(for: request).status == 201)
        #expect(try Data(contentsOf: nginx.files.appending(path: "up/large")) == body)
    }

    @Test func uploadsAFileAndAsksFirst() async throws {
        let file = nginx.files.appending(path: "source")
        try Data.pattern(5_000_000).write(to: file)
        let request = ApiRequest(url: try nginx.plain("/up/copy"), method: .put, body: .file(file))
        let response = try await Transport.curl.provider.response(for: request)
        #expect(response.status == 201)
        #expect(response.headers["X-Expect"] == "100-continue")
        #expect(try Data(contentsOf: nginx.files.appending(path: "up/copy")) == Data(contentsOf: file))
    }

    /// The server refuses the request after it has read the head.
    @Test func takesARefusalInPlaceOfTheLeaveToSend() async throws {
        let body = RequestBody.stream(byteCount: 2 << 20) {
            AsyncStream<Data> { continuation in
                continuation.yield(Data(count: 2 << 20))
                continuation.finish()
            }
        }
        let request = ApiRequest(url: try nginx.plain("/limited/x"), method: .put, body: body)
        #expect(try await Transport.curl.provider.response(for: request).status == 413)
    }
}
#endif
