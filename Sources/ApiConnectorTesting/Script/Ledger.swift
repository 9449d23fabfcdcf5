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
        /// The requests whose bodies are still coming.
        var arrivals: [Arrival] = []
        var exchanges: [Int: Exchange] = [:]
        var idleWaiters: [Eventual<Void>] = []
        var endedScope: String?
        /// How many of the verdicts somebody has asked for.
        var readCount = 0
        var onLateRequest: (@Sendable (String) -> Void)?
        /// What the carriers that it was handed to cannot express.
        var limits: [CarrierLimits] = []
        /// What lives as long as the script does: the carriers' servers and links.
        var attachments: [any Sendable & AnyObject] = []
    }

    let place: SourcePlace
    /// What its answers are compared with; nil outside a suite that asks for it.
    private let contract = Contract.current
    let state = Locked(State())
    let ending = ScriptEnding()

    /// Who is told of everything, in the order in which it happens; nil for nobody.
    let reporter: (any LedgerReporter)?

    init(at place: SourcePlace, reportingTo reporter: (any LedgerReporter)? = nil) {
        self.place = place
        self.reporter = reporter
    }

    deinit {
        // What nobody has asked for, nobody has seen: the last chance to be heard.
        let (readCount, hasEnded) = state.withLock { ($0.readCount, $0.endedScope != nil) }
        guard reporter == nil, !hasEnded else { return }
        let unread = verdicts(includingUnused: true).dropFirst(readCount)
        if !unread.isEmpty {
            let texts = unread.map(\.description).joined(separator: "\n")
            let which = readCount == 0 ? "its" : "these"
            StandardError.write("Nobody asked the script made at \(place) for \(which) verdicts:\n\(texts)")
        }
    }

    // MARK: - Declaring

    func declare(_ declaration: Declaration) -> Int {
        let (index, limits) = state.withLock { state in
            state.declarations.append(declaration)
            return (state.declarations.count - 1, state.limits)
        }
        note(limits.flatMap { $0.refusals(of: declaration, isLate: true) })
        return index
    }

    func add(_ step: AnswerStep, to declaration: Int) {
        let limits = state.withLock { state in
            state.declarations[declaration].steps.append(step)
            return state.limits
        }
        note(limits.flatMap { $0.refusals(of: step, isLate: true) })
    }

    func add(_ kind: Verdict.Kind, _ text: String, at place: SourcePlace) {
        state.withLock { $0.verdicts.append(Verdict(kind: kind, description: text, place: place)) }
        _ = reporter?.report(.verdict(kind, text, SeedPlace(place)))
    }

    /// Keeps what belongs to a carrier for as long as there is a script to answer from.
    func keep(_ attachment: any Sendable & AnyObject) {
        state.withLock { $0.attachments.append(attachment) }
    }

    private func note(_ refusals: [CarrierRefusal.Item]) {
        for refusal in refusals { add(.refused, refusal.description, at: refusal.place) }
    }

    // MARK: - Answering

    /// The answer to a request, with the exchange in which it is delivered.
    ///
    /// - Parameters:
    ///   - request: The request as it came.
    ///   - carriage: How the answer travels; nil, in process, by default.
    ///   - arrival: How its body came, where a carrier has read it; nil by default.
    func answer(
        to request: ApiRequest,
        over carriage: Carriage? = nil,
        after arrival: Arrival? = nil
    ) async throws -> TestConnectorResponse {
        let (sent, exchange) = try await enter(request, after: arrival)
        let declarations = state.withLock { $0.declarations }
        // Once for each declaration, and outside the lock: a predicate is a test's code.
        let differences = declarations.map { $0.matcher.differences(sent) }
        do {
            var response =
                if let taken = try takeStep(for: sent, differences, isPassedOn: carriage?.passOn != nil) {
                    try await self.response(of: taken, to: sent, exchange, over: carriage)
                } else {
                    try await carriage?.passOn?(request) ?? .failure(ApiConnectorError(.unmatched, "it has no answer"))
                }
            response.exchange = exchange
            return response
        } catch {
            await exchange.end(error, request)
            throw error
        }
    }

    /// Notes that a request has come, with what it sends; one whose body does not come whole was sent as well.
    private func enter(_ request: ApiRequest, after known: Arrival?) async throws -> (SentRequest, Exchange) {
        let isStreamed = request.body.isStreamed
        let arrival = isStreamed ? try arrive(request) : known
        let body: Data
        do {
            body = if isStreamed, let arrival { try await arrival.body() } else { try await request.collectedBody() }
        } catch {
            let (_, exchange) = try enter(request, Data(), after: arrival)
            await exchange.end(error, request)
            throw error
        }
        return try enter(request, body, after: arrival)
    }

    private func response(
        of taken: TakenStep,
        to sent: SentRequest,
        _ exchange: Exchange,
        over carriage: Carriage?
    ) async throws -> TestConnectorResponse {
        var response: TestConnectorResponse
        switch taken.step.answer {
        case .response(let canned):
            response = canned
        case .computed(let compute):
            response = try await Exchange.value(of: sent.request, until: exchange.stopped) { try await compute(sent) }
        case .held(let hold):
            if hold.answer.current == nil {
                hold.isAwaited = true
                exchange.wait()
            }
            // When it is released, and not when its task runs again: the scope may end in between.
            let release = hold.answer.whenSet { [weak hold] _ in
                hold?.isAwaited = false
                exchange.resume()
            }
            defer {
                hold.answer.forget(release)
                hold.isAwaited = false
            }
            hold.arrival.set(sent)
            _ = reporter?.report(.held(sent.number, declaration: taken.declaration, step: taken.index))
            response = try await Exchange.wait(for: hold.answer, of: sent.request, until: exchange.stopped)
        }
        response = response.coded(for: sent.request)
        if let refusal = carriage?.limits.refusal(of: response) {
            if !taken.step.isCanned { note([CarrierRefusal.Item(place: taken.step.place, sentence: refusal)]) }
            throw ApiConnectorError(.unmatched, "the answer declared at \(taken.step.place): \(refusal)")
        }
        note(response, sent.number, taken.step.place)
        return response
    }

    private func note(_ response: TestConnectorResponse, _ number: Int, _ place: SourcePlace) {
        state.withLock { $0.given.append((response, number, place)) }
    }

    /// The bodies of JSON that were given.
    var cannedBodies: [CannedBody] {
        let (given, requests) = state.withLock { ($0.given, $0.requests) }
        return given.compactMap { CannedBody($0.response, to: requests[$0.number - 1], at: $0.place) }
    }

    /// The requests that have come, with their answers.
    var checkedExchanges: [CheckedExchange] {
        let (given, requests) = state.withLock { ($0.given, $0.requests) }
        return requests.map { sent in
            let answer = given.first { $0.number == sent.number }
            return CheckedExchange(sent: sent, response: answer?.response, place: answer?.place ?? place)
        }
    }

    /// Compares the exchanges with the suite's contract, once.
    func reportToContract() {
        guard let contract, state.withLock({ $0.endedScope == nil }) else { return }
        contract.add(cannedBodies)
        for verdict in contract.verdicts(of: checkedExchanges) {
            add(verdict.kind, verdict.description, at: verdict.place)
        }
    }

    /// Notes that a request has come whole.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: What it sends.
    ///   - arrival: How its body came; nil, at once, by default.
    func enter(
        _ request: ApiRequest,
        _ body: Data,
        after arrival: Arrival? = nil
    ) throws -> (SentRequest, Exchange) {
        enum Entry { case open(SentRequest, Exchange, Eventual<SentRequest>?), ended(String) }
        let entry = state.withLock { state -> Entry in
            if let scope = state.endedScope { return .ended(scope) }
            if let arrival { state.arrivals.removeAll { $0 === arrival } }
            let number = state.requests.count + 1
            let sent = SentRequest(number: number, request: request, body: body)
            let exchange = Exchange(number: number) { [weak self] in
                self?.end(number, $0)
            } onWait: { [weak self] in
                self?.releaseIdleWaiters()
                _ = self?.reporter?.report(.waits(number))
            }
            state.requests.append(sent)
            state.exchanges[number] = exchange
            guard !state.watchers.isEmpty else { return .open(sent, exchange, nil) }
            state.announcedCount += 1
            return .open(sent, exchange, state.watchers.removeFirst())
        }
        switch entry {
        case .ended(let scope):
            guard arrival == nil else {
                // The end has told of it.
                throw ApiConnectorError(.cancelled, VerdictText.stopped(scope), request: request)
            }
            throw refusal(of: request, after: scope)
        case .open(let sent, let exchange, let watcher):
            watcher?.set(sent)
            if let refusal = reporter?.report(.entered(sent.number, SeedRequest(sent))) {
                let error = ApiConnectorError(.unmatched, refusal, request: sent.request)
                exchange.end(.failed(error))
                throw error
            }
            return (sent, exchange)
        }
    }

    private func end(_ number: Int, _ outcome: SentRequest.Outcome) {
        state.withLock { state in
            state.exchanges[number] = nil
            state.requests[number - 1].outcome = outcome
        }
        _ = reporter?.report(.ended(number, SeedOutcome(outcome)))
        releaseIdleWaiters()
    }

    /// Lets everybody go on who waits until no request is under way, if none is.
    func releaseIdleWaiters() {
        let waiters = state.withLock { state -> [Eventual<Void>] in
            guard state.arrivals.isEmpty, state.exchanges.values.allSatisfy(\.isWaiting) else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.set(()) }
    }

    private struct TakenStep {
        let step: AnswerStep
        let declaration: Int
        let index: Int
    }

    /// The step that answers a request; nil for one without an answer that is passed on.
    private func takeStep(
        for sent: SentRequest,
        _ differences: [[Difference]],
        isPassedOn: Bool
    ) throws -> TakenStep? {
        let fitting = differences.indices.filter { differences[$0].isEmpty }
        if fitting.isEmpty, isPassedOn { return nil }
        let choice = state.withLock { state -> (taken: TakenStep?, live: [Int], declarations: [Declaration]) in
            let live = fitting.filter { state.declarations[$0].nextStep != nil }
            guard live.count == 1, let index = state.declarations[live[0]].takeStep() else {
                return (nil, live, state.declarations)
            }
            let step = state.declarations[live[0]].steps[index]
            return (TakenStep(step: step, declaration: live[0], index: index), live, [])
        }
        if let taken = choice.taken {
            _ = reporter?.report(.took(declaration: taken.declaration, step: taken.index))
            return taken
        }
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
        let culprit = (choice.live + fitting).first.map { choice.declarations[$0].place } ?? place
        add(kind, "\(sent.request): \(text).", at: culprit)
        throw ApiConnectorError(.unmatched, text, request: sent.request)
    }
}
