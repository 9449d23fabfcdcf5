// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

/// The source of an adapter's responses, within the adapter's limits.
///
/// The source does not keep a script alive. The script keeps its adapters alive instead.
struct AdaptedResponses: GivenResponseSource {
    private enum Source: Sendable {
        case script(ScriptReference)
        case other(any ResponseSource)
    }

    private let source: Source
    private let context: AnswerDelivery
    private var arrival: Arrival?

    init(_ source: some ResponseSource, _ context: AnswerDelivery) {
        let engine = (source as? any ScriptOwner)?.engine
        self.source = engine.map { .script(ScriptReference($0)) } ?? .other(source)
        self.context = context
    }

    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange()
    }

    func given(to request: ApiRequest) async throws -> GivenResponse {
        switch source {
        case .script(let reference):
            guard let engine = reference.engine else {
                let isGone = "its script was released; keep a reference to it until the test ends"
                throw reference.ending.refusal(of: request)
                    ?? ApiConnectorError(.unmatched, isGone, request: request)
            }
            return try await engine.answer(to: request, over: context, after: arrival)
        case .other(let source):
            let request = try await request.withBodyInMemory()
            do {
                let given = try await source.given(to: request)
                guard let refusal = context.limits.refusal(of: given.canned) else { return given }
                throw ApiConnectorError(.other, refusal, request: request)
            } catch let error as ApiConnectorError where error.kind == .unmatched {
                guard let passOn = context.passOn else { throw error }
                return GivenResponse(canned: try await passOn(request))
            }
        }
    }

    /// A copy for a request whose body is still arriving.
    ///
    /// From now on, the script counts the request as running.
    func receiving(_ request: ApiRequest) -> AdaptedResponses {
        guard case .script(let reference) = source, let engine = reference.engine else { return self }
        let arrival = Arrival(request)
        guard engine.note(arrival) == nil else { return self }
        var copy = self
        copy.arrival = arrival
        return copy
    }

    /// Calls a closure if the script's scope ends before the body has arrived.
    func whenStopped(_ stop: @escaping @Sendable () -> Void) {
        arrival?.stopped.whenSet { _ in stop() }
    }

    /// Records that the request will not be answered, if it has not arrived completely.
    func giveUp() {
        guard let arrival, case .script(let reference) = source else { return }
        reference.engine?.giveUp(arrival)
    }

    /// Records an issue for input that was not a valid request.
    func refuse(_ text: String) {
        guard case .script(let reference) = source, let engine = reference.engine else { return }
        engine.add(.refused, text, at: engine.place)
    }
}

extension ApiRequest {
    fileprivate func withBodyInMemory() async throws(ApiConnectorError) -> ApiRequest {
        guard body.isStreamed else { return self }
        var copy = self
        copy.body = .data(try await collectedBody(), mediaType: body.mediaType ?? .octetStream)
        return copy
    }
}

/// A weak reference to a script's engine, and a record of how the script ended.
final class ScriptReference: Sendable {
    weak let engine: ScriptEngine?
    let ending: ScriptEnding

    init(_ engine: ScriptEngine) {
        self.engine = engine
        ending = engine.ending
    }
}

extension ResponseSource {
    fileprivate func given(to request: ApiRequest) async throws -> GivenResponse {
        if let source = self as? any GivenResponseSource { return try await source.given(to: request) }
        return GivenResponse(canned: try await response(for: request))
    }
}
