// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ForeignWrappers
import MicroCases

/// Wrappers around a provider that answers immediately.
///
/// - Eight wrappers from another module. Each changes a copy of the request and takes a lock.
/// - The standard composition around a request that needs none of it: no retry, no observer, a credential for another
///   origin.
/// - The standard composition around a request to which the credential is added.
struct G08Wrappers: Goal {
    let number = "G8"
    let title = "wrappers around a provider"

    func measure(on bench: Bench) async throws -> Outcome {
        let bare = InstantProvider()
        let four = Stamped(Stamped(Stamped(Stamped(bare))))
        let eight = Stamped(Stamped(Stamped(Stamped(four))))
        let url = URL(string: "http://127.0.0.1/small") ?? URL(filePath: "")
        let standard = bare.standard(authenticatedBy: .fixed(.bearer("token")), observedBy: Inattentive())
        let credited = bare.standard(
            authenticatedBy: .fixed(.bearer("token")),
            for: .origins(url),
            observedBy: Inattentive()
        )
        let request = ApiRequest(
            url: url,
            headers: ["Accept": "application/json", "User-Agent": "goals"]
        )
        guard try await eight.response(for: request).request.attempt == 1 else {
            throw WrongFixture(description: "the wrappers do not change the request")
        }
        guard try await standard.response(for: request).request.headers[.authorization] == nil,
            try await credited.response(for: request).request.headers[.authorization] == "Bearer token"
        else { throw WrongFixture(description: "the credential is not where it has to be") }
        let count = bench.isQuick ? 50_000 : 200_000
        var contest = Contest()
        contest.add("eight") {
            try await Rate.microseconds(count: count) { keep(try await eight.response(for: request)) }
        }
        contest.add("standard") {
            try await Rate.microseconds(count: count) { keep(try await standard.response(for: request)) }
        }
        contest.add("credited") {
            try await Rate.microseconds(count: count) { keep(try await credited.response(for: request)) }
        }
        contest.add("none") {
            try await Rate.microseconds(count: count) { keep(try await bare.response(for: request)) }
        }
        let samples = try await contest.run(rounds: bench.rounds)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("with eight", samples.median("eight"), .microseconds))
        outcome.add(Figure("with the standard composition", samples.median("standard"), .microseconds))
        outcome.add(Figure("and a credential added", samples.median("credited"), .microseconds))
        outcome.add(Figure("without a wrapper", samples.median("none"), .microseconds))
        outcome.add(Check("all eight", samples.difference("eight", from: "none"), atMost: 1.2, .microseconds))
        outcome.add(
            Check("the standard composition", samples.difference("standard", from: "none"), atMost: 5, .microseconds)
        )
        return outcome
    }
}

/// An observer that does nothing.
struct Inattentive: CallObserver {
    func handle(_ event: CallEvent) {}
}

/// A provider that answers immediately.
struct InstantProvider: DataRequestType {
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        ApiResponse(to: request, status: 200)
    }
}
