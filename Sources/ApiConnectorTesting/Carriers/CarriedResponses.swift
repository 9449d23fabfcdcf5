// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Whose verdicts a carrier works for.
protocol LedgerOwner: Sendable {
    var ledger: Ledger { get }

    /// Where its environment's routes begin.
    var rootURL: URL { get }

    /// Where its connections take the time from.
    var timeSource: any TimeSource { get }
}

extension ApiEnvironment {
    /// Where its routes begin: scheme, host, port and base path.
    var rootURL: URL { RootRoute().url(for: self) }
}

private struct RootRoute<EnvironmentType: ApiEnvironment>: ApiRouter {
    var path: String { "/" }
}

/// What a carrier answers from: a source of responses within the carrier's limits.
///
/// A script is not kept alive: it keeps its carriers, so that they live as long as it does.
struct CarriedResponses: ExchangeSource {
    private enum Source: Sendable {
        case script(LedgerReference)
        case other(any ResponseSource)
    }

    private let source: Source
    private let carriage: Carriage
    private var arrival: Arrival?

    init(_ source: some ResponseSource, _ carriage: Carriage) {
        let ledger = (source as? any LedgerOwner)?.ledger
        self.source = ledger.map { .script(LedgerReference($0)) } ?? .other(source)
        self.carriage = carriage
    }

    func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await given(to: request).withoutExchange(for: request)
    }

    func given(to request: ApiRequest) async throws -> GivenResponse {
        switch source {
        case .script(let reference):
            guard let ledger = reference.ledger else {
                let isGone = "its script is gone; keep it until the test ends"
                throw reference.ending.refusal(of: request)
                    ?? ApiConnectorError(.unmatched, isGone, request: request)
            }
            return try await ledger.answer(to: request, over: carriage, after: arrival)
        case .other(let source):
            let request = try await request.withBodyInMemory()
            do {
                let given = try await source.given(to: request)
                guard let refusal = carriage.limits.refusal(of: given.canned) else { return given }
                throw ApiConnectorError(.other, refusal, request: request)
            } catch let error as ApiConnectorError where error.kind == .unmatched {
                guard let passOn = carriage.passOn else { throw error }
                return GivenResponse(canned: try await passOn(request))
            }
        }
    }

    /// The same for a request whose body is still coming, which counts as under way from now on.
    func receiving(_ request: ApiRequest) -> CarriedResponses {
        guard case .script(let reference) = source, let ledger = reference.ledger else { return self }
        let arrival = Arrival(request)
        guard ledger.note(arrival) == nil else { return self }
        var copy = self
        copy.arrival = arrival
        return copy
    }

    /// Calls a closure when the scope ends before the body has come.
    func whenStopped(_ stop: @escaping @Sendable () -> Void) {
        arrival?.stopped.whenSet { _ in stop() }
    }

    /// Notes that the request will not be answered, if it has not come whole.
    func giveUp() {
        guard let arrival, case .script(let reference) = source else { return }
        reference.ledger?.giveUp(arrival)
    }

    /// Notes what came and was no request that could be answered.
    func refuse(_ text: String) {
        guard case .script(let reference) = source, let ledger = reference.ledger else { return }
        ledger.add(.refused, text, at: ledger.place)
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

/// A ledger that is there for as long as its script is, and how that has ended.
final class LedgerReference: Sendable {
    weak let ledger: Ledger?
    let ending: ScriptEnding

    init(_ ledger: Ledger) {
        self.ledger = ledger
        ending = ledger.ending
    }
}

extension ResponseSource {
    fileprivate func given(to request: ApiRequest) async throws -> GivenResponse {
        if let source = self as? any ExchangeSource { return try await source.given(to: request) }
        return GivenResponse(canned: try await response(for: request))
    }
}
