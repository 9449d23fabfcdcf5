// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One request of a script while it is under way: how it can be stopped from outside, and how it ended.
final class Exchange: Sendable {
    let number: Int

    /// Set when the scope has ended before the request.
    let stopped = Eventual<ApiConnectorError>()

    private let outcome = Eventual<RecordedRequest.Outcome>()
    private let waits = Locked(false)
    private let onWait: @Sendable () -> Void

    init(
        number: Int,
        onEnd: @escaping @Sendable (RecordedRequest.Outcome) -> Void,
        onWait: @escaping @Sendable () -> Void
    ) {
        self.number = number
        self.onWait = onWait
        outcome.whenSet(onEnd)
    }

    /// Whether only somebody else can end it: a test that releases it, a limit of time, a cancel.
    var isWaiting: Bool { waits.withLock { $0 } }

    func wait() {
        waits.withLock { $0 = true }
        onWait()
    }

    func resume() {
        waits.withLock { $0 = false }
    }

    /// Notes how it ended; only the first end counts.
    func end(_ outcome: RecordedRequest.Outcome) {
        self.outcome.set(outcome)
    }

    /// Notes that it ended by an error.
    func end(_ error: any Error, _ request: ApiRequest) async {
        do throws(ApiConnectorError) {
            _ = try await ApiConnectorError.mapping { () -> Void in throw error }
        } catch {
            end(error.kind == .cancelled ? .cancelled : .failed(error))
        }
    }

    /// What a closure makes that may heed nothing, unless the call or the scope ends first; it is canceled then.
    static func value<Value: Sendable>(
        of request: ApiRequest,
        until stopped: Eventual<ApiConnectorError>?,
        _ make: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let made = Eventual<Result<Value, any Error>>()
        let work = Task {
            do {
                made.set(.success(try await make()))
            } catch {
                made.set(.failure(error))
            }
        }
        defer { work.cancel() }
        return try await wait(for: made, of: request, until: stopped).get()
    }

    /// Waits for a value that a test sets, unless the call or the scope ends first.
    static func wait<Value: Sendable>(
        for value: Eventual<Value>,
        of request: ApiRequest,
        until stopped: Eventual<ApiConnectorError>?
    ) async throws(ApiConnectorError) -> Value {
        let end = Eventual<Result<Value, ApiConnectorError>>()
        let waiter = value.whenSet { end.set(.success($0)) }
        let watch = stopped?.whenSet { end.set(.failure($0)) }
        defer {
            value.forget(waiter)
            stopped?.forget(watch ?? nil)
        }
        let result = await request.withStopHandler {
            await end.value()
        } onStop: {
            end.set(.failure($0))
        }
        return try result.get()
    }
}
