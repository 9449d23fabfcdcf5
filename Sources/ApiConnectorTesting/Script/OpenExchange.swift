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

/// The open exchanges of a script, and the tasks that wait for their ends.
package struct OpenExchanges: Sendable {
    /// The requests whose bodies are still arriving.
    private(set) var arrivals: [Arrival] = []
    private var exchanges: [Int: OpenExchange] = [:]
    private var idleWaiters: [Eventual<Void>] = []

    mutating func add(_ arrival: Arrival) {
        arrivals.append(arrival)
    }

    func contains(_ arrival: Arrival) -> Bool {
        arrivals.contains { $0 === arrival }
    }

    mutating func remove(_ arrival: Arrival) {
        arrivals.removeAll { $0 === arrival }
    }

    mutating func removeArrivals() -> [Arrival] {
        defer { arrivals = [] }
        return arrivals
    }

    mutating func add(_ exchange: OpenExchange) {
        exchanges[exchange.number] = exchange
    }

    mutating func remove(_ number: Int) {
        exchanges[number] = nil
    }

    package subscript(number: Int) -> OpenExchange? { exchanges[number] }

    /// The exchanges whose request bodies are complete, by number.
    package var inOrder: [OpenExchange] { exchanges.values.sorted { $0.number < $1.number } }

    mutating func addIdleWaiter(_ waiter: Eventual<Void>) {
        idleWaiters.append(waiter)
    }

    /// Removes the waiters to resume: all of them if each open exchange waits for the test, a timeout or a cancel.
    mutating func takeIdleWaiters() -> [Eventual<Void>] {
        guard arrivals.isEmpty, exchanges.values.allSatisfy(\.isWaiting) else { return [] }
        defer { idleWaiters = [] }
        return idleWaiters
    }
}

/// A request whose body is still arriving at a script.
///
/// The request counts as running, but has no number yet.
package final class Arrival: Sendable {
    package let request: ApiRequest

    /// Set if the scope ends before the body has arrived.
    package let stopped = Eventual<ApiConnectorError>()

    package init(_ request: ApiRequest) {
        self.request = request
    }

    /// The request's body.
    ///
    /// A cancel, the call's timeouts or the scope's end stop the read, even if the body's source ignores them.
    func body() async throws -> Data {
        try await OpenExchange.value(of: request, until: stopped) { [request] in try await request.collectedBody() }
    }
}

extension ApiRequest {
    /// The request's body, up to the size that a script keeps.
    ///
    /// Each chunk restarts the stall timeout.
    package func collectedBody() async throws(ApiConnectorError) -> Data {
        let limit = ResponseDelivery.standard.maximumByteCount
        var bytes = Data()
        try await body.send { (chunk) throws(ApiConnectorError) in
            reportProgress()
            guard chunk.count <= limit - bytes.count else {
                throw ApiConnectorError(
                    .bodyTooLarge,
                    at: .request,
                    "a script accepts request bodies of up to \(limit) bytes"
                )
            }
            bytes += chunk
        }
        return bytes
    }
}

/// A request that a script has received, with its canned response.
package struct ScriptExchange: Sendable {
    package let sent: RecordedRequest
    /// The canned response; nil for a request without an answer.
    package let response: TestConnectorResponse?
    /// The line of the answer, or of the script for a request without an answer.
    package let place: CodeLocation

    package init(sent: RecordedRequest, response: TestConnectorResponse?, place: CodeLocation) {
        self.sent = sent
        self.response = response
        self.place = place
    }

    /// A closure for the scripts that a task makes.
    ///
    /// When such a script ends, the closure is called with the script's exchanges, and returns their issues.
    ///
    /// Nil by default.
    @TaskLocal package static var collector: (@Sendable ([ScriptExchange]) -> [TestIssue])?
}

/// Receives each event of an engine before the event has an effect.
package protocol ScriptReporter: Sendable {
    /// Reports one event.
    ///
    /// - Returns: The reason why a received request must not be answered; nil if it may be, and for all other events.
    func report(_ event: ScriptEvent) -> String?
}

/// An event of an engine.
package enum ScriptEvent: Sendable {
    /// A request has arrived.
    case entered(RecordedRequest)
    /// An answer of a declaration was used.
    case took(declaration: Int, step: Int)
    /// A request waits for the test, a timeout or a cancel.
    case waits(Int)
    /// A request waits for the test to release the answer.
    case held(Int, declaration: Int, step: Int)
    /// A request has ended.
    case ended(Int, RecordedRequest.Outcome)
    /// An issue was found.
    case issue(TestIssue)
}
