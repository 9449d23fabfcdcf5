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
        var exchanges: [Int: Exchange] = [:]
        var idleWaiters: [Eventual<Void>] = []
        var endedScope: String?
        /// How many of the verdicts somebody has asked for.
        var readCount = 0
        var onLateRequest: (@Sendable (String) -> Void)?
    }

    let place: SourcePlace
    let state = Locked(State())

    init(at place: SourcePlace) {
        self.place = place
    }

    deinit {
        // What nobody has asked for, nobody has seen: the last chance to be heard.
        let (readCount, hasEnded) = state.withLock { ($0.readCount, $0.endedScope != nil) }
        guard !hasEnded else { return }
        let unread = verdicts(includingUnused: true).dropFirst(readCount)
        if !unread.isEmpty {
            let texts = unread.map(\.description).joined(separator: "\n")
            let which = readCount == 0 ? "its" : "these"
            StandardError.write("Nobody asked the script made at \(place) for \(which) verdicts:\n\(texts)")
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
            switch step.answer {
            case .response(var response):
                response.exchange = exchange
                return response
            case .computed(let compute):
                var response = try await compute(sent)
                response.exchange = exchange
                return response
            case .held(let hold):
                hold.isAwaited = true
                exchange.wait()
                hold.arrival.set(sent)
                defer { hold.isAwaited = false }
                var response = try await Exchange.wait(for: hold.answer, of: request, exchange)
                exchange.resume()
                response.exchange = exchange
                return response
            }
        } catch {
            await exchange.end(error, request)
            throw error
        }
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
