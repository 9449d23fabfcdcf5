// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A server of NDJSON that breaks off, and a reader whose waits are let pass.
struct LineHost {
    static let body = "\u{FEFF}1\n22\r\n\n333\n4444\n"

    /// One answer of the server, in order.
    struct Answer: Sendable {
        var status = 200
        var fields = [("ETag", "\"v1\"")]
        /// The announced body.
        var whole: Substring
        /// The number of bytes that are sent; all by default.
        var byteCount: Int?
        /// Whether the body is one chunk without an end, in place of a body with a length.
        var isChunked = false

        /// The whole body, broken off after `byteCount` bytes.
        static func whole(upTo byteCount: Int? = nil, _ fields: [(String, String)] = [("ETag", "\"v1\"")]) -> Answer {
            Answer(fields: fields, whole: body[...], byteCount: byteCount)
        }

        /// A 206 with the body from a byte on.
        static func rest(
            from offset: Int,
            upTo byteCount: Int? = nil,
            range: String? = nil,
            _ fields: [(String, String)] = [("ETag", "\"v1\"")]
        ) -> Answer {
            let total = body.utf8.count
            let field = ("Content-Range", range ?? "bytes \(offset)-\(total - 1)/\(total)")
            let rest = Substring(body.utf8.dropFirst(offset))
            return Answer(status: 206, fields: fields + [field], whole: rest, byteCount: byteCount)
        }
    }

    let policy = RetryPolicy(maximumAttemptCount: 3, random: { 0.5 })
    private let clock = ManualClock()

    private func server(_ answers: [Answer]) throws -> LoopbackServer {
        try LoopbackServer.answering(answers) { answer, connection in
            let bytes = Data(answer.whole.utf8)
            let sent = bytes.prefix(answer.byteCount ?? bytes.count)
            let framing = answer.isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(bytes.count)"
            let fields = answer.fields.map { "\($0.0): \($0.1)\r\n" }.joined()
            try connection.send(
                "HTTP/1.1 \(answer.status) X\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\(fields)"
                    + "\(framing)\r\n\r\n"
            )
            if answer.isChunked { try connection.sendChunk(sent) } else { try connection.send(sent) }
            try connection.finishSending()
            try connection.waitUntilPeerCloses()
        }
    }

    /// Reads numbers to the end of the stream, and lets each wait pass.
    func read(
        _ answers: [Answer],
        over wire: Wire = .system,
        waiting count: Int,
        as format: StreamFormat<Int>? = nil,
        method: HTTPMethod = .get,
        options: CallOptions = CallOptions()
    ) async throws -> (numbers: [Int], error: ApiConnectorError?, requests: [LoopbackRequest]) {
        let server = try server(answers)
        let api = NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let waits = Task { [clock] in
            for _ in 0..<count { clock.advance(by: try await clock.nextSleep(within: .seconds(Int64.max))) }
        }
        var numbers: [Int] = []
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            let stream = api.stream(
                at: Endpoint(path: "/", method: method),
                as: format ?? .jsonLines.resuming(policy),
                options: options
            )
            for try await number in stream { numbers.append(number) }
        } catch {
            failure = error
        }
        waits.cancel()
        return (numbers, failure, server.requests)
    }
}
