// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorConformance
import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

struct CurlUploadTests {
    // An array, for the leak checker cannot follow the tagged pointer of a static Data.
    private static let bytes = [UInt8](Data.counting(by: 7, byteCount: 3_000_000))
    private static var large: Data { Data(bytes) }

    private func send(_ body: RequestBody, to server: LoopbackServer) async throws -> LoopbackRequest {
        let request = ApiRequest(url: server.url(), method: .put, body: body)
        let response = try await CurlProvider().response(for: request)
        #expect(response.status == 204)
        return try await server.request(server.requests.count - 1)
    }

    @Test(arguments: [1, 100, 1 << 20, 1 + (1 << 20), 3_000_000])
    func sendsBytesFromMemory(_ byteCount: Int) async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        let data = Self.large.prefix(byteCount)
        let seen = try await send(.data(data), to: server)
        #expect(seen.body == data)
        #expect(seen.header("Content-Length") == "\(byteCount)")
        #expect(seen.header("Content-Type") == "application/octet-stream")
        #expect(seen.header("Expect") == (byteCount > 1 << 20 ? "100-continue" : nil))
    }

    @Test func sendsAFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Self.large.write(to: file)
        let server = try LoopbackServer.responding { _ in .status(204) }
        let seen = try await send(.file(file), to: server)
        #expect(seen.body == Self.large)
        #expect(seen.header("Content-Length") == "3000000")
    }

    @Test(arguments: [nil, 6]) func sendsChunksFromASource(_ byteCount: Int?) async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.stream(byteCount: byteCount) {
            AsyncStream { continuation in
                for text in ["ab", "cd", "ef"] { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
        for _ in 0..<2 {
            let seen = try await send(body, to: server)
            #expect(seen.body == Data("abcdef".utf8))
            #expect(seen.header("Transfer-Encoding") == (byteCount == nil ? "chunked" : nil))
            #expect(seen.header("Content-Length") == byteCount.map { "\($0)" })
            // Many servers do not answer this field, and the body would wait for a second.
            #expect(seen.header("Expect") == nil)
        }
    }

    @Test func asksTheServerBeforeASourceIfTheRequestSaysSo() async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        let body = RequestBody.stream {
            AsyncStream { continuation in
                continuation.yield(Data([1]))
                continuation.finish()
            }
        }
        var request = ApiRequest(url: server.url(), method: .put, body: body)
        request.headers["Expect"] = "100-continue"
        #expect(try await CurlProvider(configuration: .patient).response(for: request).status == 204)
        let seen = try await server.request(0)
        #expect(seen.headers(named: "Expect") == ["100-continue"])
        #expect(seen.body == Data([1]))
    }

    /// A server that answers in place of `100 Continue` may then read the announced body (RFC 9110, section 10.1.1).
    @Test(arguments: [200, 204], [true, false])
    func noRequestTakesThePlaceOfABodyThatWasNotSent(_ status: Int, isSource: Bool) async throws {
        let isMixed = Gate("a request in place of the body")
        let server = try LoopbackServer { connection in
            while let request = try connection.readHead() {
                if request.header("Expect") == nil {
                    _ = try connection.readBody(of: request)
                    try connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
                } else {
                    let length = status == 204 ? "" : "Content-Length: 0\r\n"
                    try connection.send("HTTP/1.1 \(status) Early\r\n\(length)\r\n")
                    // libcurl 8.7 and later sends the body when the wait for `100 Continue` ends.
                    if try connection.readBody(of: request) != Data(count: 10) { isMixed.open() }
                    return
                }
            }
        }
        let data = Data(count: 10)
        let source = RequestBody.stream(byteCount: 10) {
            AsyncStream { continuation in
                continuation.yield(data)
                continuation.finish()
            }
        }
        var request = ApiRequest(url: server.url(), method: .put, body: isSource ? source : .data(data))
        request.headers["Expect"] = "100-continue"
        let provider = CurlProvider(configuration: .patient)
        #expect(try await provider.response(for: request).status.rawValue == status)
        #expect(try await provider.response(for: ApiRequest(url: server.url())).status == 201)
        #expect(!isMixed.isOpen)
    }

    /// The server has the first chunk before the source has the second.
    @Test func pausesWhileTheSourceIsIdle() async throws {
        let arrived = Gate("first chunk")
        let server = try LoopbackServer { connection in
            guard let request = try connection.readHead() else { return }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            arrived.open()
            try connection.sendChunk(try connection.readBody(of: request))
            try connection.sendChunk("")
        }
        let body = RequestBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("one ".utf8))
                Task {
                    do {
                        try await arrived.opened()
                        continuation.yield(Data("two".utf8))
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
            }
        }
        let response = try await CurlProvider().response(
            for: ApiRequest(url: server.url(), method: .post, body: body)
        )
        #expect(try await response.body.collect(upTo: 100) == Data("one two".utf8))
    }

    @Test func failsWithTheSourcesError() async throws {
        struct Broken: Error {}
        let isAccepted = Gate("accepted")
        let server = try LoopbackServer { connection in
            isAccepted.open()
            _ = try connection.readRequest()
        }
        let body = RequestBody.stream {
            let left = Locked([Data("one".utf8)])
            return AsyncThrowingStream<Data, any Error> {
                if let chunk = left.withLock({ $0.popLast() }) { return chunk }
                try await isAccepted.opened()
                throw Broken()
            }
        }
        let error = await #expect(throws: ApiConnectorError.self) {
            try await CurlProvider().response(for: ApiRequest(url: server.url(), method: .post, body: body))
        }
        #expect(error?.kind == .encodingFailed)
        #expect(error?.underlying is Broken)
        #expect(error?.request?.method == .post)
        try await server.connectionEnded(0)
    }

    /// A server that refuses `Expect`, and then reads the announced body (RFC 9110, section 10.1.1).
    ///
    /// It answers any other request with the size of the body.
    ///
    /// - Parameter isMixed: Opened when a later request was taken for the body.
    private func serverWithoutExpect(_ isMixed: Gate) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = try connection.readHead() {
                if request.header("Expect") == nil {
                    let body = try connection.readBody(of: request)
                    try connection.send(.text("\(body.count)"), answering: request)
                } else {
                    try connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
                    // libcurl 8.7 and later sends the body when the wait for `100 Continue` ends.
                    if try connection.readBody(of: request) != Data(count: 10) { isMixed.open() }
                    return
                }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func sendsABodyAgainOnAnotherConnectionAfterA417(_ isSource: Bool, hasOwnField: Bool) async throws {
        let isMixed = Gate("a request in place of the body")
        let server = try serverWithoutExpect(isMixed)
        let data = Self.large
        let source = RequestBody.stream(byteCount: data.count) {
            AsyncStream { continuation in
                continuation.yield(data)
                continuation.finish()
            }
        }
        var request = ApiRequest(url: server.url(), method: .post, body: isSource ? source : .data(data))
        if hasOwnField { request.headers["Expect"] = "100-continue" }
        let response = try await CurlProvider(configuration: .patient).response(for: request)
        #expect(response.status == 200)
        #expect(try await response.body.collect(upTo: 100) == Data("3000000".utf8))
        #expect(server.requests.map { $0.header("Expect") } == ["100-continue", nil])
        #expect(!isMixed.isOpen)
    }

    @Test(arguments: [true, false]) func aServerThatAlwaysAnswers417IsAskedTwice(hasOwnField: Bool) async throws {
        let server = try LoopbackServer { connection in
            guard try connection.readHead() != nil else { return }
            try connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
            try connection.waitUntilPeerCloses()
        }
        var request = ApiRequest(url: server.url(), method: .put, body: .data(Self.large))
        if hasOwnField { request.headers["Expect"] = "100-continue" }
        let response = try await CurlProvider(configuration: .patient).response(for: request)
        #expect(response.status == 417)
        #expect(try await response.body.collect(upTo: 100) == Data("no".utf8))
        #expect(server.requests.map { $0.header("Expect") } == ["100-continue", nil])
    }

    /// libcurl sends the body after a second without a response.
    @Test func startsTheBodyAgainAfterALate417() async throws {
        let isRepeated = Gate("second request")
        let server = try LoopbackServer { connection in
            guard let request = try connection.readHead() else { return }
            if request.header("Expect") == nil {
                isRepeated.open()
                let body = try connection.readBody(of: request)
                try connection.send(.text(String(decoding: body, as: UTF8.self)), answering: request)
            } else {
                _ = try connection.read(1)
                try connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
                try connection.waitUntilPeerCloses()
            }
        }
        let body = RequestBody.stream(isReplayable: true) {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("one ".utf8))
                Task {
                    do {
                        try await isRepeated.opened()
                        continuation.yield(Data("two".utf8))
                        continuation.finish()
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
            }
        }
        var request = ApiRequest(url: server.url(), method: .put, body: body)
        request.headers["Expect"] = "100-continue"
        let response = try await CurlProvider(configuration: .patient).response(for: request)
        #expect(response.status == 200)
        #expect(try await response.body.collect(upTo: 100) == Data("one two".utf8))
    }

    @Test func forgetsA417WithTheNextCall() async throws {
        let refusing = try serverWithoutExpect(Gate("a request in place of the body"))
        let other = try LoopbackServer.responding { _ in .status(204) }
        let provider = CurlProvider(configuration: .patient)
        for (url, status) in [(refusing.url(), 200), (other.url(), 204)] {
            let request = ApiRequest(url: url, method: .put, body: .data(Self.large))
            #expect(try await provider.response(for: request).status.rawValue == status)
        }
        #expect(try await other.request(0).header("Expect") == "100-continue")
    }

    /// The source is released when the server answers before it has everything.
    @Test func releasesTheSourceAfterAnEarlyResponse() async throws {
        let (begun, ended) = (Gate("start of the source"), Gate("end of the source"))
        let server = try LoopbackServer { connection in
            guard let request = try connection.readHead() else { return }
            // On a busy machine, the call could otherwise end before its source is opened.
            try connection.wait(for: begun)
            try connection.send(.status(413), answering: request)
            try connection.finishSending()
            try connection.waitUntilPeerCloses()
        }
        let body = RequestBody.stream {
            AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in ended.open() }
                begun.open()
            }
        }
        let response = try await CurlProvider().response(
            for: ApiRequest(url: server.url(), method: .post, body: body)
        )
        #expect(response.status == 413)
        try await ended.opened()
    }
}
#endif
