// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// One request of a script and its response, until both have ended.
///
/// The scope can stop the exchange. This object records how it ended.
package final class OpenExchange: Sendable {
    let number: Int

    /// Set if the scope ends before the exchange has ended.
    package let stopped = Eventual<ApiConnectorError>()

    private let outcome = Eventual<RecordedRequest.Outcome>()
    private let waits = Locked(false)
    private let onWait: @Sendable () -> Void

    package init(
        number: Int,
        onEnd: @escaping @Sendable (RecordedRequest.Outcome) -> Void,
        onWait: @escaping @Sendable () -> Void
    ) {
        self.number = number
        self.onWait = onWait
        outcome.whenSet(onEnd)
    }

    /// Whether the exchange waits for a release by the test, a timeout or a cancel.
    var isWaiting: Bool { waits.withLock { $0 } }

    package func wait() {
        waits.withLock { $0 = true }
        onWait()
    }

    package func resume() {
        waits.withLock { $0 = false }
    }

    /// Records the outcome; only the first outcome counts.
    package func end(_ outcome: RecordedRequest.Outcome) {
        self.outcome.set(outcome)
    }

    /// Records that the exchange failed.
    package func end(_ error: any Error) {
        let error = ApiConnectorError(mapping: error)
        end(error.kind == .cancelled ? .cancelled : .failed(error))
    }

    /// Runs a closure that may ignore cancellation.
    ///
    /// If the call or the scope ends first, the closure is canceled and abandoned.
    package static func value<Value: Sendable>(
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
    package static func wait<Value: Sendable>(
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
