// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct LoopbackServerTests {}

extension LoopbackServerTests {
    // MARK: Well-formed answers

    @Test func answersEveryRequestOfAKeptAliveConnection() throws {
        let server = try LoopbackServer.responding { .text("to \($0.target)") }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("GET /a?b=%20c HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a:  2 \r\n\r\nGET /d HTTP/1.1\r\n\r\n")
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
        let answers = "\(head)12\r\n\r\nto /a?b=%20c\(head)5\r\n\r\nto /d"
        #expect(try client.receive(count: answers.utf8.count) == answers)

        try client.send("GET /e HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveAll() == "\(head)5\r\n\r\nto /e")

        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.target) == ["/a?b=%20c", "/d", "/e"])
        #expect(server.requests.map(\.connection) == [0, 0, 0])
        let first = try #require(server.requests.first)
        #expect(first.method == "GET")
        #expect(first.head == "GET /a?b=%20c HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a:  2 \r\n\r\n")
        #expect(first.headers.map(\.name) == ["Host", "X-A", "x-a"])
        #expect(first.header("x-A") == "1")
        #expect(first.headers(named: "X-A") == ["1", "2"])
        #expect(first.header("absent") == nil)
    }

    @Test func servesURLSession() async throws {
        let server = try LoopbackServer.responding { request in
            .json("{\"count\":\(request.body.count)}", status: 201)
        }
        defer { server.stop() }
        var request = URLRequest(url: server.url("items?page=2"))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: 120, count: 100_000)
        let (data, response) = try await URLSession.shared.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "{\"count\":100000}")
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(try await server.request(0).target == "/items?page=2")
    }

    @Test(arguments: [
        ("HEAD", 200, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
        ("GET", 204, "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", 304, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        ("GET", 299, "HTTP/1.1 299 \r\nContent-Length: 4\r\n\r\nbody"),
    ])
    func sendsABodyOnlyWhereOneIsAllowed(method: String, status: Int, expected: String) throws {
        let server = try LoopbackServer.responding { _ in LoopbackResponse(status: status, body: Data("body".utf8)) }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("\(method) / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveAll() == expected)
    }

    // MARK: Reading

    @Test func readsBodiesOverEveryCut() throws {
        let server = try LoopbackServer.responding { LoopbackResponse(body: $0.body) }
        defer { server.stop() }
        let bytes = Data(
            """
            POST /length HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello\
            POST /chunks HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n\
            GET /none HTTP/1.1\r\nConnection: close\r\n\r\n
            """.utf8
        )
        let head = "HTTP/1.1 200 OK\r\nContent-Length: "
        for cut in 1..<bytes.count {
            let client = try Socket.connect(to: server.port)
            try client.send(Data(bytes.prefix(cut)))
            try client.send(Data(bytes.dropFirst(cut)))
            let answers = try client.receiveAll()
            #expect(answers == "\(head)5\r\n\r\nhello\(head)13\r\n\r\nabc0123456789\(head)0\r\n\r\n")
        }
        #expect(server.requests.count == 3 * (bytes.count - 1))
        #expect(server.errors.isEmpty)
    }

    @Test func answersExpect100ContinueUnlessDisabled() throws {
        let server = try LoopbackServer { connection in
            _ = try connection.readRequest(sendsContinue: connection.index == 0)
            try connection.send("done")
        }
        defer { server.stop() }
        let head = "PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
        let polite = try Socket.connect(to: server.port)
        try polite.send(head)
        #expect(try polite.receive(count: 25) == "HTTP/1.1 100 Continue\r\n\r\n")
        try polite.send("body")
        #expect(try polite.receiveAll() == "done")

        let hasty = try Socket.connect(to: server.port)
        try hasty.send(head + "body")
        #expect(try hasty.receiveAll() == "done")
        #expect(server.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])
    }

    @Test func letsAScriptAnswerBeforeTheBody() throws {
        let server = try LoopbackServer { connection in
            guard let request = try connection.readHead() else { return }
            try connection.send("early")
            try connection.send(try connection.readBody(of: request))
        }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send("PUT / HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
        #expect(try client.receive(count: 5) == "early")
        #expect(server.requests.map(\.body) == [Data()])
        try client.send("body")
        #expect(try client.receiveAll() == "body")
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", "The peer sent an invalid HTTP/1.1 request: its first line is \"nonsense\"."),
        (
            "GET / HTTP/1.1\r\nx\r\n\r\n",
            "The peer sent an invalid HTTP/1.1 request: the header line \"x\" has no name."
        ),
        (
            "PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "The peer sent an invalid HTTP/1.1 request: its Content-Length is \"-1\"."
        ),
        (
            "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
            "The peer sent an invalid HTTP/1.1 request: a chunk starts with \"z\"."
        ),
        (
            "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            "The peer sent an invalid HTTP/1.1 request: a chunk is longer than its size of 1."
        ),
    ])
    func recordsMalformedRequests(sent: String, expected: String) throws {
        let server = try LoopbackServer.responding { _ in .status(200) }
        defer { server.stop() }
        let client = try Socket.connect(to: server.port)
        try client.send(sent)
        #expect(try client.receiveAll() == "")
        #expect(server.errors.map { String(describing: $0) } == [expected])
        #expect(server.requests.isEmpty)
    }

    // MARK: Waiting for requests

    @Test func awaitsARequestThatHasNotArrived() async throws {
        let server = try LoopbackServer.responding { _ in .status(204) }
        defer { server.stop() }
        async let second = server.request(1)
        let client = try Socket.connect(to: server.port)
        try client.send("GET /0 HTTP/1.1\r\n\r\nGET /1 HTTP/1.1\r\n\r\n")
        #expect(try await second.target == "/1")
        #expect(try await server.request(0).target == "/0")
    }

    @Test func saysThatARequestDidNotArrive() async throws {
        let server = try LoopbackServer(guardedFor: .milliseconds(1)) { _ in }
        defer { server.stop() }
        let error = await #expect(throws: LoopbackError.self) { try await server.request(2) }
        let text = "Request 2, counted from 0, did not arrive within 0.001 seconds; 0 arrived."
        #expect(error?.description == text)
    }

    @Test func endsTheWaitForARequestOnCancelAndOnStop() async throws {
        let server = try LoopbackServer { _ in }
        let canceled = Task { try await server.request(0) }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }

        let pending = Task { try await server.request(0) }
        server.stop()
        let error = await #expect(throws: LoopbackError.self) { try await pending.value }
        #expect(error == .serverStopped)
    }

    // MARK: URLs

    @Test(arguments: [
        ("/", "/"), ("", "/"), ("a", "/a"), ("/a?b=c#d", "/a?b=c#d"), ("?a", "/?a"), ("/%zz", "/%25zz"),
        ("/ä b", "/%C3%A4%20b"), ("@evil.example/", "/@evil.example/"), ("/[", "/%5B"),
    ])
    func makesAURLFromAnyPath(path: String, expected: String) throws {
        let server = try LoopbackServer { _ in }
        defer { server.stop() }
        #expect(server.url(path).absoluteString == "http://\(LoopbackServer.host):\(server.port)\(expected)")
    }
}

extension Socket {
    func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    func receive(count: Int) throws -> String {
        var received = Data()
        while received.count < count {
            let more = try receive(upTo: count - received.count)
            guard !more.isEmpty else { break }
            received += more
        }
        return String(decoding: received, as: UTF8.self)
    }

    func receiveAll() throws -> String {
        var received = Data()
        while case let more = try receive(), !more.isEmpty { received += more }
        return String(decoding: received, as: UTF8.self)
    }
}
