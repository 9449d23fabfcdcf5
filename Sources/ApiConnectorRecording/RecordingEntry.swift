// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// One exchange while it is recorded.
final class RecordingEntry: Sendable {
    private struct State {
        var exchange: RecordedExchange
        var isOver = false
        var isTooLarge = false
    }

    /// The largest size of a body that can be saved.
    private static let maximumByteCount = 64 * 1024 * 1024

    private let redactor: Redactor
    private let timeSource: any TimeSource
    private let start: Duration
    private let state: Locked<State>

    /// - Parameter body: The body's bytes, before the library compressed them.
    init(_ request: ApiRequest, _ body: Data) {
        let request = request.uncompressed
        redactor = request.redactor(from: .standard)
        timeSource = request.timeSource
        start = timeSource.now
        var exchange = RecordedExchange(
            started: timeSource.date,
            method: request.method,
            url: request.url.absoluteString,
            headers: request.headers,
            body: body
        )
        if !body.isEmpty, !request.headers.contains(.contentType), let type = request.body.mediaType {
            exchange.headers[.contentType] = type.description
        }
        exchange.end = .left
        state = Locked(State(exchange: exchange))
    }

    func begin(_ response: ApiResponse) {
        let time = timeSource.now - start
        state.withLock { state in
            state.exchange.status = response.status
            state.exchange.answerHeaders = response.headers
            state.exchange.headTime = time
            state.exchange.endTime = time
        }
    }

    func append(_ bytes: Data) {
        let time = timeSource.now - start
        state.withLock { state in
            guard !state.isOver, !bytes.isEmpty else { return }
            guard bytes.count <= Self.maximumByteCount - state.exchange.answer.count else {
                state.isTooLarge = true
                return
            }
            state.exchange.answer.append(bytes)
            state.exchange.chunks.append(RecordedExchange.Chunk(end: state.exchange.answer.count, time: time))
            state.exchange.endTime = time
        }
    }

    /// Records the end of the exchange; only the first end counts.
    func end(_ end: RecordedExchange.End) {
        let time = timeSource.now - start
        state.withLock { state in
            guard !state.isOver else { return }
            state.isOver = true
            state.exchange.end = end
            state.exchange.endTime = time
            if state.exchange.status == nil { state.exchange.headTime = time }
        }
    }

    /// The exchange so far; nil if it is still waiting for an answer.
    func exchange() throws(FixtureError) -> RecordedExchange? {
        let (exchange, isOver, isTooLarge) = state.withLock { ($0.exchange, $0.isOver, $0.isTooLarge) }
        guard !isTooLarge else {
            let text = redactor.redact(text: exchange.url)
            throw FixtureError("the answer to \(exchange.method) \(text) is longer than 64 MiB")
        }
        return isOver || exchange.status != nil ? exchange : nil
    }
}

/// Records a response body while the client reads it.
final class RecordedBody: Sendable {
    private let iterator: Locked<ResponseBody.AsyncIterator>
    private let entry: RecordingEntry

    init(_ body: ResponseBody, _ entry: RecordingEntry) {
        iterator = Locked(body.makeAsyncIterator())
        self.entry = entry
    }

    var body: ResponseBody {
        ResponseBody(
            pulling: { () async throws(ApiConnectorError) -> Data? in try await self.next() },
            cancel: {
                self.entry.end(.left)
                // Releasing the iterator ends the transfer.
                self.iterator.withLock { $0 = ResponseBody(Data()).makeAsyncIterator() }
            }
        )
    }

    /// Reads the next chunk.
    ///
    /// It is never called while another call is pending, so no other call uses the iterator meanwhile.
    private func next() async throws(ApiConnectorError) -> Data? {
        var current = iterator.withLock { $0 }
        do throws(ApiConnectorError) {
            let chunk = try await current.next()
            iterator.withLock { [current] in $0 = current }
            if let chunk { entry.append(chunk) } else { entry.end(.finished) }
            return chunk
        } catch {
            entry.end(error.kind == .cancelled ? .left : .failed(RecordedFailure(error)))
            throw error
        }
    }
}
