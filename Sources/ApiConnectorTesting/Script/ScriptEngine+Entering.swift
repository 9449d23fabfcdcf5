// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

extension ScriptEngine {
    /// Adds a request, which runs until its exchange ends.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The request's body.
    ///   - arrival: The arrival of the body; nil by default, for a body that arrived at once.
    package func enter(
        _ request: ApiRequest,
        _ body: Data,
        after arrival: Arrival? = nil
    ) throws -> (RecordedRequest, OpenExchange) {
        enum Entry { case open(RecordedRequest, OpenExchange, Eventual<RecordedRequest>?), ended(String) }
        let entry = state.withLock { state -> Entry in
            if let scope = ending.scope { return .ended(scope) }
            if let arrival { state.open.remove(arrival) }
            let number = state.requests.nextNumber
            let sent = RecordedRequest(number: number, request: request, body: body)
            let exchange = OpenExchange(number: number) { [weak self] in
                self?.end(number, $0)
            } onWait: { [weak self] in
                self?.releaseIdleWaiters()
                _ = self?.reporter?.report(.waits(number))
            }
            state.open.add(exchange)
            return .open(sent, exchange, state.requests.add(sent))
        }
        switch entry {
        case .ended(let scope):
            guard arrival == nil else {
                // The script's end has already reported this request.
                throw ApiConnectorError(.cancelled, IssueText.stopped(scope), request: request)
            }
            throw ending.refusal(of: request, after: scope)
        case .open(let sent, let exchange, let watcher):
            watcher?.set(sent)
            if let refusal = reporter?.report(.entered(sent)) {
                let error = ApiConnectorError(.unmatched, refusal, request: sent.request)
                exchange.end(.failed(error))
                throw error
            }
            return (sent, exchange)
        }
    }

    private func end(_ number: Int, _ outcome: RecordedRequest.Outcome) {
        state.withLock { state in
            state.open.remove(number)
            state.requests.end(number, outcome)
        }
        _ = reporter?.report(.ended(number, outcome))
        releaseIdleWaiters()
    }

    /// Records a request whose body has not arrived yet.
    func arrive(_ request: ApiRequest) throws(ApiConnectorError) -> Arrival {
        let arrival = Arrival(request)
        if let scope = note(arrival) { throw ending.refusal(of: request, after: scope) }
        return arrival
    }

    /// Records an arrival; returns the scope's name if the script has ended.
    package func note(_ arrival: Arrival) -> String? {
        state.withLock { state in
            let scope = ending.scope
            if scope == nil { state.open.add(arrival) }
            return scope
        }
    }

    /// Records that the body of an arrival will not arrive, unless it already has.
    package func giveUp(_ arrival: Arrival) {
        let isOpen = state.withLock { $0.open.contains(arrival) }
        guard isOpen, let (_, exchange) = try? enter(arrival.request, Data(), after: arrival) else { return }
        exchange.end(.cancelled)
    }

    /// Resumes the calls that wait for running requests, if each request has ended or waits for the test, a timeout or
    /// a cancel.
    func releaseIdleWaiters() {
        for waiter in state.withLock({ $0.open.takeIdleWaiters() }) { waiter.set(()) }
    }
}
