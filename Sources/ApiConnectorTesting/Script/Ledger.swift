// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What a script knows: its declarations, the requests that came, and what is held against the test.
final class Ledger: Sendable {
    struct State {
        var declarations: [Declaration] = []
        var requests: [SentRequest] = []
        var announcedCount = 0
        var watchers: [Eventual<SentRequest>] = []
        var verdicts: [Verdict] = []
        var given: [(response: TestConnectorResponse, number: Int, place: SourcePlace)] = []
        var exchanges: [Int: Exchange] = [:]
        var idleWaiters: [Eventual<Void>] = []
        var endedScope: String?
        var wasRead = false
        var onLateRequest: (@Sendable (String) -> Void)?
    }

    let place: SourcePlace
    /// What its answers are compared with; nil outside a suite that asks for it.
    private let contract = Contract.current
    let state = Locked(State())

    init(at place: SourcePlace) {
        self.place = place
    }

    deinit {
        // Nobody has asked for the verdicts, so that nobody has seen them: the last chance to be heard.
        guard state.withLock({ $0.endedScope == nil && !$0.wasRead }) else { return }
        let open = verdicts(includingUnused: true)
        if !open.isEmpty {
            let texts = open.map(\.description).joined(separator: "\n")
            StandardError.write("Nobody asked the script made at \(place) for its verdicts:\n\(texts)")
        }
    }

    // MARK: - Declaring

    func declare(_ declaration: Declaration) -> Int {
        state.withLock { state in
            state.declarations.append(declaration)
            return state.declarations.count - 1
        }
    }

    func add(_ step: AnswerStep, to declaration: Int) {
        state.withLock { $0.declarations[declaration].steps.append(step) }
    }

    func add(_ kind: Verdict.Kind, _ text: String, at place: SourcePlace) {
        state.withLock { $0.verdicts.append(Verdict(kind: kind, description: text, place: place)) }
    }

    // MARK: - Answering

    /// The answer to a request, with the exchange in which it is delivered.
    func answer(to request: ApiRequest) async throws -> TestConnectorResponse {
        let body = try await request.body.collect(upTo: ResponseDelivery.standard.maximumByteCount)
        let (sent, exchange) = try enter(request, body)
        let declarations = state.withLock { $0.declarations }
        // Once for each declaration, and outside the lock: a predicate is a test's code.
        let differences = declarations.map { $0.matcher.differences(sent) }
        do {
            let step = try takeStep(for: sent, differences)
            var response: TestConnectorResponse
            switch step.answer {
            case .response(let canned):
                response = canned
            case .computed(let compute):
                response = try await compute(sent)
            case .held(let hold):
                hold.isAwaited = true
                exchange.wait()
                hold.arrival.set(sent)
                defer { hold.isAwaited = false }
                response = try await Exchange.wait(for: hold.answer, of: request, exchange)
                exchange.resume()
            }
            note(response, sent.number, step.place)
            response.exchange = exchange
            return response
        } catch {
            await exchange.end(error, request)
            throw error
        }
    }

    private func note(_ response: TestConnectorResponse, _ number: Int, _ place: SourcePlace) {
        state.withLock { $0.given.append((response, number, place)) }
    }

    /// The bodies of JSON that were given.
    var cannedBodies: [CannedBody] {
        let (given, requests) = state.withLock { ($0.given, $0.requests) }
        return given.compactMap { CannedBody($0.response, to: requests[$0.number - 1], at: $0.place) }
    }

    /// Hands what was given to the suite's contract, once.
    func reportToContract() {
        guard let contract, state.withLock({ $0.endedScope == nil }) else { return }
        contract.add(cannedBodies)
    }

    private func enter(_ request: ApiRequest, _ body: Data) throws -> (SentRequest, Exchange) {
        enum Entry { case open(SentRequest, Exchange, Eventual<SentRequest>?), ended(String) }
        let entry = state.withLock { state -> Entry in
            if let scope = state.endedScope { return .ended(scope) }
            let number = state.requests.count + 1
            let sent = SentRequest(number: number, request: request, body: body)
            let exchange = Exchange(number: number) { [weak self] in
                self?.end(number, $0)
            } onWait: { [weak self] in
                self?.releaseIdleWaiters()
            }
            state.requests.append(sent)
            state.exchanges[number] = exchange
            guard !state.watchers.isEmpty else { return .open(sent, exchange, nil) }
            state.announcedCount += 1
            return .open(sent, exchange, state.watchers.removeFirst())
        }
        switch entry {
        case .ended(let scope):
            throw refusal(of: request, after: scope)
        case .open(let sent, let exchange, let watcher):
            watcher?.set(sent)
            return (sent, exchange)
        }
    }

    private func end(_ number: Int, _ outcome: SentRequest.Outcome) {
        state.withLock { state in
            state.exchanges[number] = nil
            state.requests[number - 1].outcome = outcome
        }
        releaseIdleWaiters()
    }

    /// Lets everybody go on who waits until no request is under way, if none is.
    func releaseIdleWaiters() {
        let waiters = state.withLock { state -> [Eventual<Void>] in
            guard state.exchanges.values.allSatisfy(\.isWaiting) else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.set(()) }
    }

    private func takeStep(for sent: SentRequest, _ differences: [[Difference]]) throws -> AnswerStep {
        let fitting = differences.indices.filter { differences[$0].isEmpty }
        let choice = state.withLock { state -> (step: AnswerStep?, live: [Int], declarations: [Declaration]) in
            let live = fitting.filter { state.declarations[$0].nextStep != nil }
            guard live.count == 1 else { return (nil, live, state.declarations) }
            return (state.declarations[live[0]].takeStep(), live, [])
        }
        if let step = choice.step { return step }
        let (kind, text): (Verdict.Kind, String)
        if !choice.live.isEmpty {
            kind = .ambiguous
            text = VerdictText.ambiguous(choice.live.map { choice.declarations[$0] })
        } else if !fitting.isEmpty {
            kind = .exhausted
            text = VerdictText.exhausted(fitting.map { choice.declarations[$0] })
        } else {
            kind = .unmatched
            text = VerdictText.unmatched(sent, Array(zip(choice.declarations, differences)), scriptAt: place)
        }
        let culprit = kind == .unmatched ? place : choice.declarations[fitting[0]].place
        add(kind, "\(sent.request): \(text).", at: culprit)
        throw ApiConnectorError(.unmatched, text, request: sent.request)
    }
}
