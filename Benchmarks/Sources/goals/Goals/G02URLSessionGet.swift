// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// A small GET, decoded, through URLSessionProvider.
///
/// A bare delegate is measured as well. No transport over URLSession that limits bodies, reports progress and handles
/// redirects can be faster.
struct G02URLSessionGet: Goal {
    let number = "G2"
    let title = "a small GET, decoded, through URLSessionProvider"

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let ours = ConnectorGet(URLSessionProvider(), port: nginx.port)
        let session = URLSessionGet(session: .shared, url: nginx.url("/small"))
        let bare = BareDelegateGet(url: nginx.url("/small"))
        try await ours.check()
        try await bare.check()
        try await session.check()

        var outcome = Outcome(goal: number, title: title)
        for inFlight in [1, 16] {
            var contest = Contest()
            contest.add("ours") {
                try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await ours.value()) }
            }
            contest.add("URLSession") {
                try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await session.value()) }
            }
            contest.add("a bare delegate") {
                try await Rate.perSecond(inFlight: inFlight, for: bench.turn) { keep(try await bare.value()) }
            }
            let samples = try await contest.run(rounds: bench.rounds)
            for name in ["ours", "URLSession"] {
                outcome.add(Figure("\(inFlight) in flight, \(name)", samples.median(name), .perSecond))
            }
            let floor = samples.ratio("a bare delegate", to: "URLSession")
            outcome.add(Figure("\(inFlight) in flight, a bare delegate × URLSession", floor, .times))
            let ratio = samples.ratio("ours", to: "URLSession")
            outcome.add(Check("\(inFlight) in flight, × URLSession", ratio, atLeast: 0.95))
        }
        return outcome
    }
}
