// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A server of events that hangs up, and a reader whose waits are let pass.
struct EventHost {
    /// One answer of the server, in order.
    enum Answer: Sendable {
        /// A stream that breaks off in the midst of a chunk.
        case broken(String)
        /// A stream of which only the head comes.
        case beheaded
        /// A stream that ends.
        case ended(String)
        case status(Int, type: String = "text/event-stream")
        /// A stream that is held open.
        case held(String)
    }

    let clock = ManualClock()
    let policy = RetryPolicy(
        maximumAttemptCount: 3,
        maximumDuration: .seconds(60),
        initialDelay: .seconds(1),
        maximumDelay: .seconds(60),
        random: { 0.5 }
    )

    /// A server that answers so, one request after the other.
    func server(_ answers: [Answer]) throws -> LoopbackServer {
        try LoopbackServer.answering(answers) { answer, connection in
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
            switch answer {
            case .broken(let text):
                try connection.send(head)
                try connection.sendChunk(text)
                try connection.send("ff\r\n")
                try connection.finishSending()
            case .beheaded:
                try connection.send(head)
                try connection.finishSending()
            case .ended(let text):
                try connection.send(head)
                if !text.isEmpty { try connection.sendChunk(text) }
                try connection.sendChunk("")
                try connection.waitUntilPeerCloses()
            case .status(let status, let type):
                try connection.send("HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nConnection: close\r\n")
                try connection.send(status == 204 ? "\r\n" : "Content-Length: 2\r\n\r\n")
                if status != 204 { try connection.send("no") }
                try connection.finishSending()
                try connection.waitUntilPeerCloses()
            case .held(let text):
                try connection.send(head)
                try connection.sendChunk(text)
                try connection.waitUntilPeerCloses()
            }
        }
    }

    func connection(
        to server: LoopbackServer,
        over wire: Wire,
        overall: Duration? = nil
    ) -> NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: Place(host: LoopbackServer.host, port: server.port),
            provider: wire.transport,
            configuration: ConnectionConfiguration(
                timeouts: Timeouts(stall: Timeouts.noLimit, overall: overall),
                timeSource: clock
            )
        )
    }

    /// Reads events to the end of the stream, and lets each wait pass.
    func read<Element: Sendable>(
        _ stream: ResponseStream<Element>,
        waiting count: Int
    ) async throws -> (elements: [Element], waits: [Duration], error: ApiConnectorError?) {
        let waits = Task { [clock] in
            var waits: [Duration] = []
            for _ in 0..<count {
                let wait = try await clock.nextSleep(within: .seconds(Int64.max))
                waits.append(wait)
                clock.advance(by: wait)
            }
            return waits
        }
        var elements: [Element] = []
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            for try await element in stream { elements.append(element) }
        } catch {
            failure = error
        }
        waits.cancel()
        return (elements, (try? await waits.value) ?? [], failure)
    }
}
