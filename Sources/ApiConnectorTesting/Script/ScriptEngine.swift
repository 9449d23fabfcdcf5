// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The state of a script: its declarations, requests and issues.
package final class ScriptEngine: Sendable {
    package struct State {
        package var declarations = DeclarationList()
        var requests = RequestLog()
        package var open = OpenExchanges()
        /// The answers that were used, by the number of their request.
        var given: [Int: (response: TestConnectorResponse, place: CodeLocation)] = [:]
        var issues: [TestIssue] = []
        /// The number of issues that were read.
        var readCount = 0
    }

    package let place: CodeLocation
    package let state: Locked<State>
    package let ending = ScriptEnding()

    /// The reporter of all events, in order; nil if there is none.
    let reporter: (any ScriptReporter)?

    private let collector = ScriptExchange.collector
    private let attachments = Locked<[any Sendable & AnyObject]>([])

    package init(
        at place: CodeLocation,
        declaring declarations: [Declaration] = [],
        reportingTo reporter: (any ScriptReporter)? = nil
    ) {
        self.place = place
        self.reporter = reporter
        state = Locked(State(declarations: DeclarationList(declarations)))
    }

    deinit {
        // Issues that were not read are printed, because no code can read them anymore.
        guard reporter == nil, ending.scope == nil else { return }
        let readCount = state.withLock { $0.readCount }
        let unread = issues(includingUnused: true).dropFirst(readCount)
        if !unread.isEmpty {
            let texts = unread.map(\.description).joined(separator: "\n")
            let which = readCount == 0 ? "the" : "these"
            StandardError.write("The test did not read \(which) issues of the script made at \(place):\n\(texts)")
        }
    }

    // MARK: - Declaring

    func declare(_ declaration: Declaration) -> Int {
        let (index, refusals) = state.withLock { $0.declarations.add(declaration) }
        for refusal in refusals { add(refusal) }
        return index
    }

    package func add(_ step: AnswerStep, to declaration: Int) {
        let refusals = state.withLock { $0.declarations.add(step, to: declaration) }
        for refusal in refusals { add(refusal) }
    }

    package func add(_ kind: TestIssue.Kind, _ text: String, at place: CodeLocation) {
        add(TestIssue(kind: kind, description: text, place: place))
    }

    package func add(_ issue: TestIssue) {
        state.withLock { $0.issues.append(issue) }
        _ = reporter?.report(.issue(issue))
    }

    // MARK: - Adapters and contracts

    /// Keeps an object of an adapter alive as long as the script.
    package func keep(_ attachment: any Sendable & AnyObject) {
        attachments.withLock { $0.append(attachment) }
    }

    var kept: [any Sendable & AnyObject] { attachments.withLock { $0 } }

    /// The received requests with their answers.
    package var exchanges: [ScriptExchange] {
        let (given, requests) = state.withLock { ($0.given, $0.requests.all) }
        return requests.map { sent in
            let answer = given[sent.number]
            return ScriptExchange(sent: sent, response: answer?.response, place: answer?.place ?? place)
        }
    }

    /// Passes the exchanges to the collector of the task that made the script, once.
    func reportExchanges() {
        guard let collector, ending.scope == nil else { return }
        for issue in collector(exchanges) { add(issue) }
    }
}

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

extension ScriptEngine {
    /// The answer to a request, with the exchange in which it is delivered.
    ///
    /// - Parameters:
    ///   - request: The request as it arrived.
    ///   - delivery: How an adapter delivers the answer. Nil, the default, means within the process.
    ///   - arrival: The arrival of the body, if an adapter has read it; nil by default.
    package func answer(
        to request: ApiRequest,
        over delivery: AnswerDelivery? = nil,
        after arrival: Arrival? = nil
    ) async throws -> GivenResponse {
        let arrival = request.body.isStreamed ? try arrive(request) : arrival
        let body = await body(of: request, arrival)
        let (sent, exchange) = try enter(request, (try? body.get()) ?? Data(), after: arrival)
        do {
            // If the body failed, its error is thrown only here, after the request is recorded: a request with an
            // incomplete body was also sent.
            _ = try body.get()
            return GivenResponse(
                canned: try await response(to: sent, request, exchange, over: delivery),
                exchange: exchange
            )
        } catch {
            exchange.end(error)
            throw error
        }
    }

    private func body(of request: ApiRequest, _ arrival: Arrival?) async -> Result<Data, any Error> {
        do {
            guard request.body.isStreamed, let arrival else { return .success(try await request.collectedBody()) }
            return .success(try await arrival.body())
        } catch {
            return .failure(error)
        }
    }

    private func response(
        to sent: RecordedRequest,
        _ request: ApiRequest,
        _ exchange: OpenExchange,
        over delivery: AnswerDelivery?
    ) async throws -> TestConnectorResponse {
        let declarations = state.withLock { $0.declarations.all }
        // Each matcher is called once and outside the lock, because a matcher may call the test's code.
        let differences = declarations.map { $0.matcher.differences(sent) }
        let isMatched = differences.contains(where: \.isEmpty)
        if !isMatched, let passOn = delivery?.passOn { return try await passOn(request) }
        let taken = try takeStep(for: sent, differences)
        let place = taken.step.place
        let response = try await response(of: taken, to: sent, exchange)
            .coded(sent.request.encoder, sent.request.decoder)
        if case .broken(let error) = response.answer {
            let text = IssueText.unfit(declarations[taken.declaration].matcher, at: place, error.detail)
            add(.unfit, IssueText.sentence(text), at: place)
            throw ApiConnectorError(.unmatched, text, request: sent.request)
        }
        if let refusal = delivery?.limits.refusal(of: response) {
            if !taken.step.isCanned { add(.refused(at: place, refusal)) }
            throw ApiConnectorError(.unmatched, "the answer declared at \(place): \(refusal)")
        }
        state.withLock { $0.given[sent.number] = (response, place) }
        return response
    }

    private func response(
        of taken: TakenStep,
        to sent: RecordedRequest,
        _ exchange: OpenExchange
    ) async throws -> TestConnectorResponse {
        switch taken.step.answer {
        case .response(let canned):
            return canned
        case .computed(let compute):
            return try await OpenExchange.value(of: sent.request, until: exchange.stopped) { try await compute(sent) }
        case .held(let hold):
            if hold.answer.current == nil {
                hold.isAwaited = true
                exchange.wait()
            }
            // The wait ends at the release, not when the task runs again, because the scope may end in between.
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
            return try await OpenExchange.wait(for: hold.answer, of: sent.request, until: exchange.stopped)
        }
    }

    /// The step that answers a request.
    private func takeStep(for sent: RecordedRequest, _ differences: [[Difference]]) throws -> TakenStep {
        let fitting = differences.indices.filter { differences[$0].isEmpty }
        let choice = state.withLock { state -> (taken: TakenStep?, live: [Int], declarations: [Declaration]) in
            let live = fitting.filter { state.declarations.all[$0].nextStep != nil }
            guard live.count == 1, let taken = state.declarations.takeStep(of: live[0]) else {
                return (nil, live, state.declarations.all)
            }
            return (taken, live, [])
        }
        if let taken = choice.taken {
            _ = reporter?.report(.took(declaration: taken.declaration, step: taken.index))
            return taken
        }
        let (kind, text): (TestIssue.Kind, String)
        if !choice.live.isEmpty {
            kind = .ambiguous
            text = IssueText.ambiguous(choice.live.map { choice.declarations[$0] })
        } else if !fitting.isEmpty {
            kind = .exhausted
            text = IssueText.exhausted(fitting.map { choice.declarations[$0] })
        } else {
            kind = .unmatched
            text = IssueText.unmatched(sent, Array(zip(choice.declarations, differences)), scriptAt: place)
        }
        let culprit = (choice.live + fitting).first.map { choice.declarations[$0].place } ?? place
        add(kind, "\(sent.request): \(text).", at: culprit)
        throw ApiConnectorError(.unmatched, text, request: sent.request)
    }
}
