// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let streaming: [Breakage] = [
        .whole(
            "reads a body to its end before it hands out the head",
            hangs: true,
            caughtBy: [
                "returns the head before the body", "hands out what has come while the peer holds the rest",
                "fails behind what has come of a body that is lost",
                "fails behind what has come of a body that is malformed", "never reads far ahead of its reader",
                "leaves the peer when a stream is dropped unread",
                "leaves the peer when its reader leaves the loop", "goes on after a stream that was left",
                "collects a streamed body up to a limit", "keeps two streams apart",
                "answers a cancel within a stream, and leaves the peer",
                "answers a reader that was canceled between two chunks",
                "takes a stream that goes on for none that has stalled",
                "ends at the attempt's limit within a stream", "ends after a silence within a stream",
                "ends at the call's deadline within a stream",
                "lets other calls go on beside a stream that nobody reads",
            ]
        ) { request, provider in
            var request = request
            if request.delivery == .streamed { request.delivery = .standard }
            return try await provider.response(for: request)
        },
        .whole(
            "hands out a chunk when the next one is there",
            hangs: true,
            caughtBy: [
                "hands out what has come while the peer holds the rest",
                "fails behind what has come of a body that is lost",
                "fails behind what has come of a body that is malformed",
                "leaves the peer when its reader leaves the loop", "goes on after a stream that was left",
                "keeps two streams apart", "answers a cancel within a stream, and leaves the peer",
                "answers a reader that was canceled between two chunks",
                "takes a stream that goes on for none that has stalled",
                "ends at the attempt's limit within a stream", "ends after a silence within a stream",
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
            caughtBy: ["never reads far ahead of its reader"]
        ) { provider in
            // What is to be seen is seen only if it has had its time.
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
                "leaves the peer when a stream is dropped unread",
                "leaves the peer when its reader leaves the loop", "collects a streamed body up to a limit",
                "answers a cancel within a stream, and leaves the peer",
                "answers a reader that was canceled between two chunks",
            ],
            perhapsBy: [
                "ends at the attempt's limit within a stream", "ends after a silence within a stream",
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
            "hands out a response whose body is not collected yet",
            caughtBy: [
                "fails when the body is shorter than its length",
                "fails when the body of a failure is shorter than its length",
                "fails when the connection is reset inside the body", "fails when chunks end before the last",
                "fails when a chunk ends before its length", "fails when a chunk's length is not a number",
                "goes on after a failure", "fails a body one byte over the limit", "fails chunks over the limit",
                "fails a body over the limit before its end", "leaves the peer of a body over the limit",
            ],
            perhapsBy: ["answers a cancel within the body, and leaves the peer"]
        ) { request, provider in
            var request = request
            request.delivery = .streamed
            return try await provider.response(for: request)
        },
    ]

    /// The streams that nobody leaves.
    private static let kept = Locked<[ResponseBody]>([])

    static let cancelling: [Breakage] = [
        .whole(
            "takes no notice of a cancel",
            hangs: true,
            caughtBy: [
                "sends nothing for a task that was canceled before", "answers a cancel while the peer is silent",
                "leaves the peer after a cancel while it is silent",
                "answers a cancel within the body, and leaves the peer",
                "answers a cancel while a body is being sent",
                "answers a cancel while a body's source has nothing, and lets go of it",
                "answers a cancel within the TLS handshake", "goes on after a cancel",
            ]
        ) { request, provider in
            try await Task { try await provider.response(for: request) }.value
        },
        .whole(
            "answers a cancel and goes on behind it",
            hangs: true,
            caughtBy: [
                "leaves the peer after a cancel while it is silent",
                "answers a cancel within the body, and leaves the peer",
                "answers a cancel while a body's source has nothing, and lets go of it",
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
            caughtBy: ["sends nothing for a task that was canceled before"]
        ) { request, provider in
            guard Task.isCancelled else { return try await provider.response(for: request) }
            _ = try await Task { try await provider.response(for: request) }.value
            throw CancellationError()
        },
        Breakage(
            testDescription: "knows of no limit of time",
            caughtBy: [
                "ends at the attempt's limit while the peer is silent",
                "ends at the attempt's limit within the body",
                "ends after a silence while the peer is silent",
                "ends at the call's deadline while the peer is silent",
                "ends at the call's deadline within the body",
                "leaves the peer at a limit",
            ],
            hangs: true
        ) { AnyProvider(Limitless(wrapped: $0)) },
        Breakage(
            testDescription: "sends one request at a time",
            caughtBy: ["lets other calls go on beside one that waits"],
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

/// Sends a copy of the request that nobody watches.
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
