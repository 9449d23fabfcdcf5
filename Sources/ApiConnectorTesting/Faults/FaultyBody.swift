// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A streamed body with an injected fault, cut into chunks.
final class FaultyBody: Sendable {
    private struct State {
        var chunks: ResponseBody.AsyncIterator?
        var offset = 0
        /// The pieces that were cut, but not yet returned.
        var pieces: ArraySlice<Data> = []
        var silence: Silence?
        var isStopped = false
    }

    private let visit: FaultInjector.Visit
    private let state: Locked<State>

    init(_ body: ResponseBody, _ visit: FaultInjector.Visit) {
        self.visit = visit
        state = Locked(State(chunks: body.makeAsyncIterator()))
    }

    var body: ResponseBody {
        ResponseBody(
            pulling: { () async throws(ApiConnectorError) -> Data? in try await self.next() },
            cancel: { self.stop() }
        )
    }

    private func stop() {
        let silence = state.withLock { state in
            state.isStopped = true
            state.chunks = nil
            return state.silence
        }
        silence?.end(canceled)
    }

    private var canceled: ApiConnectorError {
        ApiConnectorError(.cancelled, at: .response, "the call was canceled", request: visit.request)
    }

    private func next() async throws(ApiConnectorError) -> Data? {
        while true {
            if let piece = state.withLock({ $0.pieces.popFirst() }) {
                visit.note(piece)
                return piece
            }
            let offset = state.withLock { $0.offset }
            if case .byte(let count)? = visit.fault?.place, offset >= count, let fault = breaking {
                try await strike(fault)
            }
            guard let chunk = try await pull() else {
                if let fault = breaking { try await strike(fault) }
                return end()
            }
            take(chunk, at: offset)
        }
    }

    /// The fault, if it ends the body.
    private var breaking: Fault? { visit.fault?.effect == .garbage ? nil : visit.fault }

    private func strike(_ fault: Fault) async throws(ApiConnectorError) {
        visit.noteInjected(fault)
        state.withLock { $0.chunks = nil }
        guard fault.isSilent else {
            if let failure = fault.failure(of: visit.request) { throw failure }
            return
        }
        let silence = fault.silence(of: visit.request)
        let isStopped = state.withLock { state in
            state.silence = silence
            return state.isStopped
        }
        if isStopped { throw canceled }
        throw await silence.wait()
    }

    private func pull() async throws(ApiConnectorError) -> Data? {
        guard let chunks = state.withLock({ $0.chunks }) else { return nil }
        return try await visit.serving { () async throws(ApiConnectorError) -> Data? in
            var chunks = chunks
            let chunk = try await chunks.next()
            self.state.withLock { if !$0.isStopped { $0.chunks = chunks } }
            return chunk
        }
    }

    private func take(_ chunk: Data, at offset: Int) {
        var chunk = chunk
        let whole = chunk.count
        if let fault = visit.fault, case .byte(let count) = fault.place, offset + whole > count {
            if fault.effect != .garbage {
                chunk = chunk.prefix(count - offset)
            } else {
                if offset <= count { visit.noteInjected(fault) }
                chunk = fault.garbled(chunk, at: offset)
            }
        }
        let pieces = visit.injector.chunking?.cut(chunk, at: offset) ?? [chunk]
        state.withLock { state in
            state.offset += chunk.count
            state.pieces = pieces.filter { !$0.isEmpty }[...]
        }
    }

    /// The end of the body (nil), or the garbage that replaces it.
    private func end() -> Data? {
        let (chunks, offset) = state.withLock { state in
            defer { state.chunks = nil }
            return (state.chunks, state.offset)
        }
        guard chunks != nil else { return nil }
        visit.noteEnd()
        guard let fault = visit.fault, fault.effect == .garbage, fault.strikesAtEnd(offset) else { return nil }
        visit.noteInjected(fault)
        return Fault.garbage(at: offset, byteCount: 16)
    }
}
