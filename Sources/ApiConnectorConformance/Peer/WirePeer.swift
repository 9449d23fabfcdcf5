// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers

/// A server that plays a case's answers on loopback sockets, byte for byte.
final class WirePeer: ConformancePeer {
    let log: PeerLog
    let server: LoopbackServer
    private let gates: PeerGates

    init(_ answers: PeerAnswers) throws {
        let log = PeerLog()
        let gates = PeerGates()
        server = try LoopbackServer { connection in
            if let answer = answers.onConnection {
                let nothing = PeerRequest(method: "", target: "", fields: [])
                _ = try AnswerPlayer(connection: connection, log: log, gates: gates).play(answer, to: nothing)
            } else {
                while let head = try connection.readHead() {
                    let player = AnswerPlayer(connection: connection, request: head, log: log, gates: gates)
                    let request = PeerRequest(method: head.method, target: head.target, fields: head.headers)
                    let staysOpen = try player.play(answers[head.target], to: request)
                    if !staysOpen || head.lists("close", in: "Connection") { return }
                }
            }
        }
        self.log = log
        self.gates = gates
    }

    func url(_ target: String) -> URL { server.url(target) }

    func release(_ hold: Int) { gates.gate(hold).open() }

    func stop() {
        server.stop()
        gates.openAll()
        log.close()
    }
}

/// Plays the steps of one answer on one connection.
private struct AnswerPlayer {
    enum End {
        /// The connection accepts another request.
        case open
        case closed
        /// The caller disconnected.
        case left
    }

    let connection: LoopbackConnection
    /// The request; nil if the answer is played before a request is read.
    var request: LoopbackRequest?
    let log: PeerLog
    let gates: PeerGates

    /// Answers one request; returns whether the connection accepts another.
    func play(_ answer: PeerAnswer, to arrived: PeerRequest) throws -> Bool {
        let number = log.begin(arrived)
        do {
            var body = Data()
            if let request {
                if request.lists("100-continue", in: "Expect") { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
                if answer.readsBody { body = try connection.readBody(of: request) }
            }
            log.complete(number, body: body)
            let end = try play(answer.steps)
            log.end(number, isLeft: end == .left)
            return end == .open
        } catch {
            log.end(number, isLeft: true)
            throw error
        }
    }

    private func play(_ steps: [PeerAnswer.Step]) throws -> End {
        var framing = PeerAnswer.Framing.none
        for step in steps {
            switch step {
            case .hold(let number): try wait(at: number)
            case .head(let status, let headers, let chosen):
                framing = request?.method == "HEAD" ? .none : chosen
                let isLast = request?.lists("close", in: "Connection") == true
                try connection.send(
                    Self.head(status, isLast ? headers.merging(["Connection": "close"]) : headers, chosen)
                )
            case .bytes(let data): try send(data, framing)
            case .endless:
                let block = Data(count: 65_536)
                while true { try send(block, framing) }
            case .silence:
                try connection.waitUntilPeerCloses()
                return .left
            case .lost: return .closed
            case .reset:
                connection.reset()
                return .closed
            case .lostInHead:
                try connection.send("HTTP/1.1 200 OK\r\nContent-Le")
                return .closed
            case .wire(let text): try connection.send(text)
            }
        }
        switch framing {
        case .chunked: try connection.sendChunk("")
        case .untilClosed: return .closed
        case .length, .none: break
        }
        return .open
    }

    private func wait(at number: Int) throws {
        try connection.wait(for: gates.gate(number))
    }

    private func send(_ data: Data, _ framing: PeerAnswer.Framing) throws {
        switch framing {
        case .chunked: try connection.sendChunk(data)
        case .length, .untilClosed: try connection.send(data)
        case .none: return
        }
        log.sent(data.count)
    }

    private static func head(_ status: HTTPStatus, _ headers: HTTPHeaders, _ framing: PeerAnswer.Framing) -> String {
        var lines = ["HTTP/1.1 \(status.rawValue) Status"]
        lines += headers.map { "\($0.name.rawValue): \($0.value)" }
        // Without a type, URLSession on Apple's systems holds back the head and the first 512 bytes to guess the type.
        if framing != .none, !headers.contains(.contentType) { lines.append("Content-Type: application/octet-stream") }
        switch framing {
        case .length(let count): lines.append("Content-Length: \(count)")
        case .chunked: lines.append("Transfer-Encoding: chunked")
        case .untilClosed: lines.append("Connection: close")
        case .none: break
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }
}
