// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A provider that holds each request until a test answers it, with what was asked for and as whom; a request that is
/// cancelled ends at once.
final class SubjectServer: DataRequestType {
    private struct State {
        var requests: [ApiRequest] = []
        var held: [Int: Waiter<ApiResponse>] = [:]
        var waiters: [(count: Int, gate: Gate)] = []
        var isCalm = false
        var stoppedCount = 0
        var overlaps: [(Int, Int)] = []
        var answered: Set<Int> = []
    }

    private let state = Locked(State())

    /// All that came, in order.
    var requests: [ApiRequest] { state.withLock { $0.requests } }

    /// How many wait for their answers.
    var heldNumbers: [Int] { state.withLock { $0.held.keys.sorted() } }

    /// Pairs that asked for the same at the same time, of which nobody had given up one.
    var needlessPairs: [(Int, Int)] {
        state.withLock { state in
            state.overlaps.filter { state.answered.contains($0.0) && state.answered.contains($0.1) }
        }
    }

    /// How many were cancelled or reached a limit of time.
    var stoppedCount: Int { state.withLock { $0.stoppedCount } }

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        if Task.isCancelled { throw .cancelled(request) }
        let waiter = Waiter<ApiResponse>()
        let (number, isCalm, gates) = state.withLock { state in
            state.requests.append(request)
            let number = state.requests.count - 1
            for other in state.held.keys where state.requests[other].subject == request.subject {
                state.overlaps.append((other, number))
            }
            state.held[number] = waiter
            let met = state.waiters.filter { $0.count <= number + 1 }
            state.waiters.removeAll { $0.count <= number + 1 }
            return (number, state.isCalm, met.map(\.gate))
        }
        for gate in gates { gate.open() }
        if isCalm { answer(number) }
        let isStopped = Locked(false)
        let outcome = await request.withStopHandler(limitsSilence: false) {
            await waiter.outcome()
        } onStop: { [self] error in
            isStopped.withLock { $0 = true }
            state.withLock { state in
                if state.held.removeValue(forKey: number) != nil { state.stoppedCount += 1 }
            }
            waiter.resume(with: .failure(error))
        }
        if !Task.isCancelled, !isStopped.withLock({ $0 }) { state.withLock { _ = $0.answered.insert(number) } }
        return try outcome.get()
    }

    /// Waits until so many requests have come.
    func arrived(_ count: Int) async throws {
        let gate = state.withLock { state in
            guard state.requests.count < count else { return nil as Gate? }
            let gate = Gate("request \(count)")
            state.waiters.append((count, gate))
            return gate
        }
        try await gate?.opened()
    }

    /// Answers a request, by its number in the order of arrival; nothing for one that is over.
    ///
    /// The body is what the request asks for and the credential it shows.
    func answer(_ number: Int, status: HTTPStatus = 200, headers: HTTPHeaders = HTTPHeaders()) {
        let held = state.withLock { state in state.held.removeValue(forKey: number).map { ($0, state.requests[number]) }
        }
        guard let (waiter, request) = held else { return }
        let body = ResponseBody(Data(request.subject.utf8))
        waiter.resume(with: .success(ApiResponse(to: request, status: status, headers: headers, body: body)))
    }

    func fail(_ number: Int, _ kind: ApiConnectorError.Kind) {
        let waiter = state.withLock { $0.held.removeValue(forKey: number) }
        waiter?.resume(with: .failure(ApiConnectorError(kind, "as the test wants it")))
    }

    /// Answers all that wait and all that come.
    func calmDown() {
        state.withLock { $0.isCalm = true }
        for number in heldNumbers { answer(number) }
    }
}

extension ApiRequest {
    /// What it asks for, and as whom.
    var subject: String { "\(url.path()) as \(headers[.authorization] ?? "nobody")" }
}
