// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A result that one task waits for, and that another task or a callback delivers.
///
/// The first result counts, even if it is delivered before the wait starts. A provider that queues requests keeps a
/// pending result for each request:
///
/// ```swift
/// let turn = PendingResult<Void>()
/// queue.append(turn)
/// let result = await request.withDeadline { await turn.result() } onStop: { turn.resume(with: .failure($0)) }
/// ```
public final class PendingResult<Success: Sendable>: Sendable {
    private struct State {
        var result: Result<Success, ApiConnectorError>?
        var continuation: CheckedContinuation<Result<Success, ApiConnectorError>, Never>?
    }

    private let state = Locked(State())

    /// Makes a result that is not delivered yet.
    public init() {}

    /// Whether a result was delivered.
    public var isOver: Bool { state.withLock { $0.result != nil } }

    /// Waits for the result; only one task may wait.
    ///
    /// A cancellation does not end the wait; use ``ApiRequest/withDeadline(_:onStop:)`` for that.
    public func result() async -> Result<Success, ApiConnectorError> {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let early { continuation.resume(returning: early) }
        }
    }

    /// Waits for the result; delivers an error instead if it takes longer than a limit.
    func result(within limit: Duration, by timeSource: any TimeSource, or error: ApiConnectorError) async
        -> Result<Success, ApiConnectorError>
    {
        let cancel = timeSource.schedule(at: timeSource.now + limit) { self.resume(with: .failure(error)) }
        defer { cancel() }
        return await result()
    }

    /// Delivers the result and ends the wait.
    ///
    /// - Returns: Whether this is the first result, which counts.
    @discardableResult
    public func resume(with result: Result<Success, ApiConnectorError>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            let isFirst = state.result == nil
            if isFirst { state.result = result }
            return (isFirst, state.continuation.take())
        }
        continuation?.resume(returning: result)
        return isFirst
    }
}
