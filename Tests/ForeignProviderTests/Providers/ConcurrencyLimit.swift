// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization

/// Lets a number of requests travel at the same time; the others wait in the order in which they came.
struct ConcurrencyLimit<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let slots: Slots

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
    private typealias Turn = Result<Void, ApiConnectorError>

    private struct State {
        var freeCount: Int
        var nextNumber = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Turn, Never>)] = []
        /// Why requests left that had not begun to wait.
        var left: [Int: ApiConnectorError] = [:]
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(freeCount: count))
    }

    func take(for request: ApiRequest) async throws(ApiConnectorError) {
        let start = request.timeSource.now
        let number = state.withLock { state -> Int? in
            if state.freeCount > 0 {
                state.freeCount -= 1
                return nil
            }
            state.nextNumber += 1
            return state.nextNumber
        }
        guard let number else { return }
        let turn = await request.withDeadline {
            await withCheckedContinuation { enter(number, $0) }
        } onStop: { [self] error in
            leave(number, because: error)
        }
        request.report(.limited(for: request.timeSource.now - start, because: "concurrency"))
        try turn.get()
    }

    func release() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.freeCount += 1
                return nil as CheckedContinuation<Turn, Never>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: .success(()))
    }

    private func enter(_ number: Int, _ continuation: CheckedContinuation<Turn, Never>) {
        let turn = state.withLock { state -> Turn? in
            if let error = state.left.removeValue(forKey: number) { return .failure(error) }
            if state.freeCount > 0 {
                state.freeCount -= 1
                return .success(())
            }
            state.waiting.append((number, continuation))
            return nil
        }
        if let turn { continuation.resume(returning: turn) }
    }

    private func leave(_ number: Int, because error: ApiConnectorError) {
        let left = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
                state.left[number] = error
                return nil as CheckedContinuation<Turn, Never>?
            }
            return state.waiting.remove(at: place).continuation
        }
        left?.resume(returning: .failure(error))
    }
}
