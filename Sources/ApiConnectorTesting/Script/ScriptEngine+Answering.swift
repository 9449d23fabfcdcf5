// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

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
