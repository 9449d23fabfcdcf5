// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// One task of a bridged session: requests the answer and passes it to the session.
final class BridgedLoad: Sendable {
    private struct State {
        var work: Task<Void, Never>?
        var watch: Task<Void, Never>?
        var isStopped = false
        var hasTimedOut = false
        var lastProgress = Duration.zero
    }

    private let state = Locked(State())

    func start(_ request: URLRequest, _ client: BridgeClient, _ entry: BridgeEntry?) {
        // R7: on Linux, Foundation calls every `URLProtocol` on one queue, so no work is done here. The task is started
        // under the lock, so that `stop()` always finds it.
        state.withLock { state in
            if !state.isStopped { state.work = Task { await run(request, client, entry) } }
        }
    }

    func stop() {
        let (work, watch) = state.withLock { state in
            state.isStopped = true
            return (state.work.take(), state.watch.take())
        }
        work?.cancel()
        watch?.cancel()
    }

    private func run(_ request: URLRequest, _ client: BridgeClient, _ entry: BridgeEntry?) async {
        do throws(ApiConnectorError) {
            guard let entry else {
                throw ApiConnectorError(.unmatched, "the SessionBridge of this session has ended or was released")
            }
            try refuse(client.task, entry)
            watch(request.timeoutInterval, on: entry.timeSource)
            try await deliver(try ApiRequest(bridged: request, headers: entry.headers), client, entry)
        } catch {
            let (isStopped, hasTimedOut) = state.withLock { ($0.isStopped, $0.hasTimedOut) }
            if !isStopped, !hasTimedOut, URLError.Code(sessionShowing: error) == nil {
                entry?.responses.refuse("A SessionBridge has no URLError for \(error.kind): \(error.detail).")
            }
            let reason = hasTimedOut ? URLError(.timedOut) : error.sessionError
            _ = await tell(client) { $0.fail(reason) }
        }
        stop()
    }

    private func deliver(
        _ request: ApiRequest,
        _ client: BridgeClient,
        _ entry: BridgeEntry
    ) async throws(ApiConnectorError) {
        let response = try await TestConnector(entry.responses).response(for: request)
        try refuse(response, to: client.task, entry)
        noteProgress(entry)
        // R7: Foundation on Linux keeps only the last piece of a body, so the body is passed in one piece. If a body
        // breaks off, the session gets only the error.
        let whole = entry.delivers(wholeTo: client.task) ? try await collect(response.body, entry) : nil
        guard let head = response.sessionHead else {
            throw ApiConnectorError(
                .malformedResponse,
                "Foundation does not accept this response head",
                request: request
            )
        }
        try await tell(client, request) { $0.receive(head) }
        if let whole {
            if !whole.isEmpty { try await tell(client, request) { $0.receive(whole) } }
        } else {
            for try await chunk in response.body {
                noteProgress(entry)
                try await tell(client, request) { $0.receive(chunk) }
            }
        }
        try await tell(client, request) { $0.finish() }
    }

    /// Calls the session's client, unless the session has ended the task.
    ///
    /// - Returns: Whether the client was called.
    private func tell(_ client: BridgeClient, _ call: @escaping @Sendable (BridgeClient) -> Void) async -> Bool {
        await client.turns.take { [self] in
            let isStopped = state.withLock { $0.isStopped }
            if !isStopped { call(client) }
            return !isStopped
        }
    }

    private func tell(
        _ client: BridgeClient,
        _ request: ApiRequest,
        _ call: @escaping @Sendable (BridgeClient) -> Void
    ) async throws(ApiConnectorError) {
        if !Task.isCancelled, await tell(client, call) { return }
        throw ApiConnectorError(.cancelled, "the task was canceled", request: request)
    }

    private func collect(_ body: ResponseBody, _ entry: BridgeEntry) async throws(ApiConnectorError) -> Data {
        let limit = ResponseDelivery.standard.maximumByteCount
        var whole = Data()
        for try await chunk in body {
            noteProgress(entry)
            guard chunk.count <= limit - whole.count else {
                throw ApiConnectorError(.bodyTooLarge, at: .response, "the body is longer than \(limit) bytes")
            }
            whole.append(chunk)
        }
        return whole
    }

    // MARK: - Time

    /// R7: on Linux a `URLProtocol` does not learn the session's timeout, so only the request's own timeout is applied.
    ///
    /// As in Foundation, each byte that arrives restarts the timeout. One day or more means no limit.
    private func watch(_ timeout: TimeInterval, on timeSource: any TimeSource) {
        guard timeout > 0, timeout < 86_400 else { return }
        let interval = Duration.seconds(timeout)
        let start = timeSource.now
        state.withLock { state in
            guard !state.isStopped else { return }
            state.watch = Task { [weak self] in
                var due = start + interval
                repeat {
                    guard (try? await timeSource.sleep(until: due)) != nil, let self else { return }
                    due = self.state.withLock { max($0.lastProgress, start) } + interval
                } while timeSource.now < due
                self?.timeOut()
            }
        }
    }

    private func noteProgress(_ entry: BridgeEntry) {
        let now = entry.timeSource.now
        state.withLock { $0.lastProgress = now }
    }

    private func timeOut() {
        let work = state.withLock { state in
            state.hasTimedOut = true
            return state.work
        }
        work?.cancel()
    }
}
