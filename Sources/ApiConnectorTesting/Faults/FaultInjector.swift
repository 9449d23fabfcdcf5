// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// The state that the providers of one plan share: the counts of equal requests, and the exchanges.
final class FaultInjector: Sendable {
    /// An exchange that was seen.
    struct Exchange: Sendable {
        let key: ExchangeKey
        let call: Int
        /// Whether a response arrived.
        var hasHead = false
        /// The bytes of the body that were read, if bodies are kept.
        var body = Data()
        var byteCount = 0
        /// Whether the body was read to its end.
        var isWhole = false
        /// Whether the body is streamed.
        var isStreamed = false

        func planned(_ fault: Fault) -> FaultPlan.Entry { FaultPlan.Entry(key.full, call: call, fault) }
    }

    private struct State {
        var counts: [String: Int] = [:]
        var exchanges: [Exchange] = []
        var injected: [FaultPlan.Entry] = []
    }

    let plan: FaultPlan
    let chunking: Chunking?
    /// The clock that the connection must use; nil for any clock.
    let clock: SkippingClock?
    private let keepsBodies: Bool
    private let state = Locked(State())

    init(_ plan: FaultPlan, chunking: Chunking? = nil, clock: SkippingClock? = nil, keepsBodies: Bool = false) {
        self.plan = plan
        self.chunking = chunking
        self.clock = clock
        self.keepsBodies = keepsBodies
    }

    /// The exchanges, in order.
    var exchanges: [Exchange] { state.withLock { $0.exchanges } }

    /// The injected faults, in order.
    var injected: [FaultPlan.Entry] { state.withLock { $0.injected } }

    /// Records a request.
    func enter(_ request: ApiRequest) -> Visit {
        let key = ExchangeKey(request)
        return state.withLock { state in
            let call = Self.count(key.full, &state)
            // The two keys of a request without a body are equal.
            let shortCall = key.short == key.full ? call : Self.count(key.short, &state)
            state.exchanges.append(Exchange(key: key, call: call))
            let fault = plan.fault(for: key, fullCall: call, shortCall: shortCall)
            return Visit(injector: self, index: state.exchanges.count - 1, request: request, fault: fault)
        }
    }

    private static func count(_ key: String, _ state: inout State) -> Int {
        state.counts[key, default: 0] += 1
        return state.counts[key, default: 0]
    }

    /// A running exchange.
    struct Visit: Sendable {
        let injector: FaultInjector
        fileprivate let index: Int
        let request: ApiRequest
        let fault: Fault?

        var clock: SkippingClock? { request.timeSource as? SkippingClock }

        func noteInjected(_ fault: Fault) {
            injector.state.withLock { $0.injected.append($0.exchanges[index].planned(fault)) }
        }

        func noteHead() {
            injector.state.withLock { $0.exchanges[index].hasHead = true }
        }

        func noteStream() {
            injector.state.withLock { $0.exchanges[index].isStreamed = true }
        }

        /// Records bytes that were returned.
        func note(_ chunk: Data) {
            injector.state.withLock { state in
                state.exchanges[index].byteCount += chunk.count
                if injector.keepsBodies { state.exchanges[index].body += chunk }
            }
        }

        func noteEnd() {
            injector.state.withLock { $0.exchanges[index].isWhole = true }
        }
    }
}

/// A provider that injects the faults of a plan; made by `injecting(_:)`.
struct FaultInjecting<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let injector: FaultInjector

    init(_ wrapped: Wrapped, _ injector: FaultInjector) {
        self.wrapped = wrapped
        self.injector = injector
    }

    /// Sends a request through the wrapped provider, and applies the plan's fault for the request.
    ///
    /// - Throws: The fault as an `ApiConnectorError` of the kind that a transport would throw, or the error of the
    ///   wrapped provider.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try request.checkSendable()
        try injector.checkClock(of: request)
        // A fault may be a silent server, so the timeouts must be able to end the call.
        return try await request.withTimeLimits { (request) throws(ApiConnectorError) in try await exchange(request) }
    }

    private func exchange(_ request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        let visit = injector.enter(request)
        if let fault = visit.fault, fault.place == .beforeSending {
            visit.noteInjected(fault)
            return try await fault.answer(to: request)
        }
        if let fault = visit.fault, fault.place == .head {
            // The real response is dropped. The bytes of its body would count as progress, and the stall timeout would
            // never end the call.
            _ = try await visit.ask(wrapped)
            visit.noteHead()
            visit.noteInjected(fault)
            return try await fault.answer(to: request)
        }
        let response = try await visit.ask(wrapped)
        visit.noteHead()
        if response.forbidsBody {
            visit.noteEnd()
            return response
        }
        if request.delivery != .streamed, let body = response.body.collected {
            return try await visit.whole(response, body)
        }
        guard visit.needsBody else { return response }
        visit.noteStream()
        var faulty = response
        faulty.body = FaultyBody(response.body, visit).body
        return faulty
    }
}

extension FaultInjector {
    /// Refuses a request whose waits would take real time.
    fileprivate func checkClock(of request: ApiRequest) throws(ApiConnectorError) {
        guard let clock, request.timeSource as? SkippingClock !== clock else { return }
        throw ApiConnectorError(
            .invalidRequest,
            "its waits would take real time; set the connection's timeSource to the run's",
            request: request
        )
    }
}

extension FaultInjector.Visit {
    /// Whether a streamed body must be wrapped.
    fileprivate var needsBody: Bool { fault != nil || clock != nil || injector.chunking != nil }

    fileprivate func ask(_ provider: some DataRequestType) async throws(ApiConnectorError) -> ApiResponse {
        try await serving { () async throws(ApiConnectorError) in try await provider.response(for: request) }
    }

    /// A response with a collected body.
    fileprivate func whole(_ response: ApiResponse, _ body: Data) async throws(ApiConnectorError) -> ApiResponse {
        note(body)
        noteEnd()
        guard let fault else { return response }
        noteInjected(fault)
        var response = response
        response.body = ResponseBody(try await fault.applied(to: body, of: request))
        return response
    }

    /// Runs the server's work while the clock stands still.
    func serving<Value: Sendable>(
        _ operation: () async throws(ApiConnectorError) -> Value
    ) async throws(ApiConnectorError) -> Value {
        guard let clock else { return try await operation() }
        let result = await clock.whileServing { () async -> Result<Value, ApiConnectorError> in
            do throws(ApiConnectorError) {
                return .success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension DataRequestType {
    /// Returns this provider, wrapped to inject the faults of a plan.
    ///
    /// ```swift
    /// let provider = TestConnector(script).injecting(.percent(10, seed: 42)).retrying()
    /// ```
    ///
    /// It works with any provider, and with collected and streamed bodies. Waits run on the connection's time source.
    /// All copies of the returned provider share one count of requests.
    ///
    /// - Parameter plan: The faults.
    public func injecting(_ plan: FaultPlan) -> some DataRequestType {
        FaultInjecting(self, FaultInjector(plan))
    }

    /// Returns this provider, wrapped to inject the faults of a test's run.
    ///
    /// - Parameter run: The run that was passed to the test's body.
    public func injecting(_ run: FaultRun) -> some DataRequestType {
        FaultInjecting(self, run.injector)
    }
}
