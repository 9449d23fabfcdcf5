// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
