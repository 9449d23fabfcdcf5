// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// Lets a number of requests travel at the same time; the others wait in the order in which they came.
struct ConcurrencyLimit<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let slots: Slots

    /// How many requests wait.
    var waitingCount: Int { slots.waitingCount }

    init(_ count: Int, _ wrapped: Wrapped) {
        self.wrapped = wrapped
        slots = Slots(count)
    }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        // A call that holds a slot may wait for it.
        if request.isCredentialRefresh { return try await wrapped.response(for: request) }
        try await slots.take(for: request)
        do throws(ApiConnectorError) {
            var response = try await wrapped.response(for: request).collectedIfWanted(by: request)
            response.body = try response.body.transformed(onEnd: { _ in slots.release() })
            return response
        } catch {
            slots.release()
            throw error
        }
    }
}

/// The slots that requests hold, and the requests that wait for one.
private final class Slots: Sendable {
    private struct State {
        var freeCount: Int
        var waiting: [PendingResult<Void>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(freeCount: count))
    }

    /// How many requests wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func take(for request: ApiRequest) async throws(ApiConnectorError) {
        let start = request.timeSource.now
        let turn = PendingResult<Void>()
        let isFree = state.withLock { state in
            guard state.freeCount == 0 else {
                state.freeCount -= 1
                return true
            }
            state.waiting.append(turn)
            return false
        }
        if isFree { return }
        let result = await request.withDeadline {
            await turn.result()
        } onStop: { [self] error in
            // A request that has its turn keeps it.
            state.withLock { $0.waiting.removeAll { $0 === turn } }
            turn.resume(with: .failure(error))
        }
        request.report(.limited(for: request.timeSource.now - start, because: "concurrency"))
        try result.get()
    }

    func release() {
        while let next = next() {
            if next.resume(with: .success(())) { return }
        }
    }

    /// The next waiting request; if there is none, the slot is freed.
    private func next() -> PendingResult<Void>? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.freeCount += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
