// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// A server whose streams go step by step, over real sockets or canned: one list of steps a request, in order.
final class SteppedServer: Sendable {
    enum Step: Sendable {
        case send(String)
        case wait(Gate)
        /// Breaks the connection off within the body.
        case breakOff
        /// Sends nothing more until the client disconnects, and reports that.
        case hold(Gate)
    }

    struct Answer: Sendable {
        var status = 200
        var fields: [(name: String, value: String)] = []
        var type = "text/event-stream"
        var steps: [Step] = []
    }

    private let provider: AnyProvider
    private let server: LoopbackServer?
    private let seen = SeenHeaders()

    /// - Parameter answers: One for each request of a stream; any other target is answered with a 1.
    init(over wire: Wire, _ answers: [Answer]) throws {
        let seen = seen
        @Sendable func next(_ fields: HTTPHeaders) -> Answer? {
            let number = seen.all.withLock { headers in
                headers.append(fields)
                return headers.count - 1
            }
            return answers.indices.contains(number) ? answers[number] : nil
        }
        if wire == .testConnector {
            server = nil
            provider = AnyProvider(
                TestConnector { request in
                    guard request.url.path() == "/stream" else { return .json(1) }
                    guard let answer = next(request.headers) else { return .status(500) }
                    let feed = BodyFeed()
                    Task { await Self.feed(feed, answer.steps) }
                    var headers: HTTPHeaders = [.contentType: answer.type]
                    for field in answer.fields { headers.append(HTTPHeaders.Name(field.name), field.value) }
                    return .feed(feed, status: HTTPStatus(rawValue: answer.status), headers: headers)
                }
            )
            return
        }
        provider = wire.transport
        server = try LoopbackServer { connection in
            while let request = try connection.readRequest() {
                guard request.target == "/stream" else {
                    try connection.send(.json("1"), answering: request)
                    continue
                }
                var fields = HTTPHeaders()
                for field in request.headers { fields.append(HTTPHeaders.Name(field.name), field.value) }
                guard let answer = next(fields) else { return }
                try Self.serve(answer, to: connection)
                return
            }
        }
    }

    /// The requests for a stream.
    var requests: [HTTPHeaders] { seen.all.withLock { $0 } }

    /// A connection without limits of time.
    func connection(timeSource: any TimeSource = .system) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: server.map { Place(host: LoopbackServer.host, port: $0.port) } ?? Place(),
            provider: provider,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: timeSource)
        )
    }

    private static func serve(_ answer: Answer, to connection: LoopbackConnection) throws {
        let fields = answer.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        try connection.send(
            "HTTP/1.1 \(answer.status) X\r\nContent-Type: \(answer.type)\r\nConnection: close\r\n\(fields)"
                + (answer.status == 204 ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n")
        )
        for step in answer.steps {
            switch step {
            case .send(let text): try connection.sendChunk(text)
            case .wait(let gate): try connection.wait(for: gate)
            case .breakOff:
                try connection.send("ff\r\n")
                try connection.finishSending()
                return try connection.waitUntilPeerCloses()
            case .hold(let left):
                try connection.waitUntilPeerCloses()
                return left.open()
            }
        }
        if answer.status != 204 { try connection.sendChunk("") }
        try connection.waitUntilPeerCloses()
    }

    private static func feed(_ feed: BodyFeed, _ steps: [Step]) async {
        for step in steps {
            switch step {
            case .send(let text): try? await feed.send(Data(text.utf8))
            case .wait(let gate): try? await gate.opened()
            case .breakOff: return feed.fail()
            case .hold(let left):
                // Taken as often as the reader asks, until there is none.
                while (try? await feed.send(Data())) != nil { await Task.yield() }
                return left.open()
            }
        }
        feed.finish()
    }
}

private final class SeenHeaders: Sendable {
    let all = Locked<[HTTPHeaders]>([])
}
