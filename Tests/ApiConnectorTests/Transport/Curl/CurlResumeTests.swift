// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnectorTestServers
import ApiConnectorTesting
import Foundation
import Testing

@testable import ApiConnector

/// Paused transfers that end before the loop resumes them.
@Suite(.needsHTTP2, .timeLimit(.minutes(10))) struct CurlResumeTests {
    /// While the loop's thread waits, the connection is lost and the source yields a byte.
    ///
    /// So both come in one turn.
    @Test func aBodyThatContinuesWhenItsConnectionIsLostFailsAsALostConnection() async throws {
        let (hasHead, mayClose, isClosed) = (Gate("head"), Gate("close"), Gate("closed"))
        let server = try LoopbackServer { connection in
            try connection.send(HTTP2Frame.settings.bytes)
            _ = try connection.read(24)
            var type: UInt8 = 0
            while type != 1 {
                let head = [UInt8](try connection.read(9))
                _ = try connection.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
                type = head[3]
            }
            hasHead.open()
            try connection.wait(for: mayClose)
            connection.close()
            isClosed.open()
        }
        defer { server.stop() }
        var configuration = CurlConfiguration.patient
        configuration.httpVersion = .http2PriorKnowledge
        let queue = try CurlCommandQueue(configuration)
        defer { queue.post(.stop) }
        let (bytes, source) = AsyncStream.makeStream(of: Data.self)
        let body = RequestBody.stream(isReplayable: false) { bytes }
        let transfer = try CurlTransfer(
            ApiRequest(url: server.url(), method: .post, body: body),
            windowByteCount: 1,
            decompression: nil,
            queue: queue
        )
        let call = Task { () -> ApiConnectorError.Kind? in
            let outcome: CurlTransfer.Outcome = await withUnsafeContinuation { transfer.start(reporting: $0) }
            guard case .failure(let error) = outcome else { return nil }
            return error.kind
        }
        try await hasHead.opened()
        let isWaiting = Gate("the loop's thread waits")
        let mayGoOn = DispatchSemaphore(value: 0)
        queue.post(
            .readPending {
                isWaiting.open()
                mayGoOn.wait()
            }
        )
        try await isWaiting.opened()
        mayClose.open()
        try await isClosed.opened()
        source.yield(Data([7]))
        await eventually { queue.hasCommands }
        mayGoOn.signal()
        let kind = await call.value
        #expect(kind == .connectionLost || (!Libcurl.hasTexts && kind == .malformedResponse))
    }
}
#endif
