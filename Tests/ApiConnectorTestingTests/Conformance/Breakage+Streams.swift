// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let streaming: [Breakage] = [
        .whole(
            "reads a body to its end before it returns the head",
            hangs: true,
            caughtBy: [
                "returns the head before the body",
                "yields the chunks that have arrived while the server holds the rest",
                "yields the chunks before a lost connection, then fails",
                "yields the chunks before malformed data, then fails", "applies back-pressure when the reader is slow",
                "disconnects when a stream is released unread",
                "disconnects when the reader leaves the loop", "works after an abandoned stream",
                "collects a streamed body up to a limit", "disconnects when a streamed body exceeds the limit",
                "keeps two streams separate",
                "ends a canceled stream, and disconnects",
                "ends a stream whose reader is canceled between two chunks",
                "does not end a slow stream as stalled",
                "times out the attempt within a stream", "ends a stalled stream",
                "ends at the call's deadline within a stream",
                "serves other calls while a stream is not read",
            ]
        ) { request, provider in
            var request = request
            if request.delivery == .streamed { request.delivery = .standard }
            return try await provider.response(for: request)
        },
        .whole(
            "delivers a chunk when the next one is there",
            hangs: true,
            caughtBy: [
                "yields the chunks that have arrived while the server holds the rest",
                "yields the chunks before a lost connection, then fails",
                "yields the chunks before malformed data, then fails",
                "disconnects when the reader leaves the loop", "works after an abandoned stream",
                "keeps two streams separate", "ends a canceled stream, and disconnects",
                "ends a stream whose reader is canceled between two chunks",
                "does not end a slow stream as stalled",
                "times out the attempt within a stream", "ends a stalled stream",
                "ends at the call's deadline within a stream",
            ]
        ) { request, provider in
            var response = try await provider.response(for: request)
            guard request.delivery == .streamed else { return response }
            let held = Locked<Data?>(nil)
            response.body = response.body.pulled { (pull) async throws(ApiConnectorError) -> Data? in
                let chunk: Data?
                if let kept = held.withLock({ $0 }) { chunk = kept } else { chunk = try await pull() }
                let next = try await pull()
                held.withLock { $0 = next ?? Data() }
                return chunk?.isEmpty == true ? nil : chunk
            }
            return response
        },
        Breakage(
            testDescription: "reads ahead of its reader without a bound",
            caughtBy: ["applies back-pressure when the reader is slow"]
        ) { provider in
            // The case sees this fault only after much of the body was read ahead.
            let greed = Locked<Gate?>(nil)
            return AnyProvider(
                BrokenProvider(provider) { request, provider in
                    if request.url.path() == "/beside" { try await greed.withLock { $0 }?.opened() }
                    var response = try await provider.response(for: request)
                    guard request.delivery == .streamed else { return response }
                    let gate = Gate("much of the body")
                    greed.withLock { $0 = gate }
                    response.body = ResponseBody(chunks: response.body.readGreedily(gate))
                    return response
                }
            )
        },
        .whole(
            "goes on with a stream that was left",
            hangs: true,
            caughtBy: [
                "disconnects when a stream is released unread",
                "disconnects when the reader leaves the loop", "disconnects when a streamed body exceeds the limit",
                "ends a canceled stream, and disconnects",
                "ends a stream whose reader is canceled between two chunks",
            ],
            perhapsBy: [
                "times out the attempt within a stream", "ends a stalled stream",
                "ends at the call's deadline within a stream",
            ]
        ) { request, provider in
            var response = try await provider.response(for: request)
            guard request.delivery == .streamed else { return response }
            kept.withLock { [body = response.body] in $0.append(body) }
            response.body = response.body.pulled { (pull) async throws(ApiConnectorError) -> Data? in
                let next = Task { () async throws(ApiConnectorError) -> Data? in try await pull() }
                return try await ApiConnectorError.mapping { try await next.value }
            }
            return response
        },
        .whole(
            "returns a response whose body is not collected yet",
            caughtBy: [
                "fails when the body is shorter than its length",
                "fails when the body of a 500 is shorter than its length",
                "fails when the connection is reset inside the body", "fails when the last chunk is missing",
                "fails when a chunk ends before its length", "fails when a chunk's length is not a number",
                "works after a failure", "fails a body one byte over the limit", "fails a chunked body over the limit",
                "fails a body over the limit before the body ends", "disconnects when a body exceeds the limit",
            ],
            perhapsBy: ["ends a canceled call within the body, and disconnects"]
        ) { request, provider in
            var request = request
            request.delivery = .streamed
            return try await provider.response(for: request)
        },
    ]

    /// Streams that do not notice that their reader has stopped.
    private static let kept = Locked<[ResponseBody]>([])

    static let cancelling: [Breakage] = [
        .whole(
            "takes no notice of a cancel",
            hangs: true,
            caughtBy: [
                "sends nothing for a task that is already canceled", "ends a canceled call while the server is silent",
                "disconnects from a silent server after a cancel",
                "ends a canceled call within the body, and disconnects",
                "ends a canceled call while it sends the body",
                "ends a canceled call while the body's source is idle, and releases the source",
                "ends a canceled call within the TLS handshake", "works after a canceled call",
            ]
        ) { request, provider in
            try await Task { try await provider.response(for: request) }.value
        },
        .whole(
            "answers a cancellation, but continues the transfer",
            hangs: true,
            caughtBy: [
                "disconnects from a silent server after a cancel",
                "ends a canceled call within the body, and disconnects",
                "ends a canceled call while the body's source is idle, and releases the source",
            ]
        ) { request, provider in
            try Task.checkCancellation()
            let (outcomes, continuation) = AsyncStream.makeStream(of: Result<ApiResponse, any Error>.self)
            Task {
                do {
                    continuation.yield(.success(try await provider.response(for: request)))
                } catch {
                    continuation.yield(.failure(error))
                }
            }
            for await outcome in outcomes { return try outcome.get() }
            throw CancellationError()
        },
        .whole(
            "sends before it looks whether it is wanted",
            caughtBy: ["sends nothing for a task that is already canceled"]
        ) { request, provider in
            guard Task.isCancelled else { return try await provider.response(for: request) }
            _ = try await Task { try await provider.response(for: request) }.value
            throw CancellationError()
        },
        Breakage(
            testDescription: "knows of no limit of time",
            caughtBy: [
                "times out the attempt while the server is silent",
                "times out the attempt within the body",
                "ends a stalled call before the head",
                "ends at the call's deadline while the server is silent",
                "ends at the call's deadline within the body",
                "disconnects at a timeout",
            ],
            hangs: true
        ) { AnyProvider(Limitless(wrapped: $0)) },
        Breakage(
            testDescription: "sends one request at a time",
            caughtBy: ["serves other calls while one call waits"],
            hangs: true
        ) { provider in
            let last = Locked<Task<Void, Never>?>(nil)
            return AnyProvider(
                BrokenProvider(provider) { request, provider in
                    let (turn, ending) = AsyncStream.makeStream(of: Void.self)
                    let mine = Task { for await _ in turn {} }
                    let before = last.withLock { last in
                        defer { last = mine }
                        return last
                    }
                    defer { ending.finish() }
                    await before?.value
                    return try await provider.response(for: request)
                }
            )
        },
    ]
}

extension ResponseBody {
    typealias Pull = @Sendable () async throws(ApiConnectorError) -> Data?

    /// The same, with something done at each pull.
    func pulled(_ change: @escaping @Sendable (@escaping Pull) async throws(ApiConnectorError) -> Data?) -> ResponseBody
    {
        let chunks = Locked<AsyncIterator?>(makeAsyncIterator())
        return ResponseBody(
            pulling: { () async throws(ApiConnectorError) -> Data? in
                try await change { () async throws(ApiConnectorError) -> Data? in
                    guard var iterator = chunks.withLock({ $0.take() }) else { return nil }
                    let chunk = try await iterator.next()
                    chunks.withLock { [iterator] in $0 = iterator }
                    return chunk
                }
            },
            cancel: { chunks.withLock { $0 = nil } }
        )
    }

    /// The same, read by its own task as fast as it comes, up to 48 MiB.
    fileprivate func readGreedily(_ gate: Gate) -> AsyncThrowingStream<Data, any Error> {
        let (chunks, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        let reader = Task {
            defer { gate.open() }
            var byteCount = 0
            do {
                for try await chunk in self {
                    continuation.yield(chunk)
                    byteCount += chunk.count
                    if byteCount > 48 << 20 { return }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in
            reader.cancel()
            gate.open()
        }
        return chunks
    }
}

/// Sends a copy of the request that ignores cancellation and timeouts.
private struct Limitless: DataRequestType {
    let wrapped: AnyProvider

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await wrapped.response(
            for: ApiRequest(
                url: request.url,
                method: request.method,
                headers: request.headers,
                body: request.body,
                delivery: request.delivery
            )
        )
    }
}
