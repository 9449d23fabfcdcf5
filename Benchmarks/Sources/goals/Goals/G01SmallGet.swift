// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// A small GET, decoded, through SystemProvider.
///
/// With 16 calls in flight, a C program over libcurl's multi interface also takes turns. Its rate is the upper bound
/// for a transport over libcurl.
struct G01SmallGet: Goal {
    let number = "G1"
    let title = "a small GET, decoded, through SystemProvider"
    private static let libcurl = "libcurl from C"

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let gets = try await PlainGets(nginx)
        var outcome = Outcome(goal: number, title: title)
        for (inFlight, sessionGoal, clientGoal) in [(1, 3.0, 1.6), (16, 7.0, 1.4)] {
            var contest = gets.contest(inFlight: inFlight, on: bench)
            // With one call in flight, most of the time is needed to wake threads, and a C program has only one thread.
            let libcurl = inFlight > 1 ? try LibcurlGet(url: nginx.url("/small"), inFlight: inFlight) : nil
            if let libcurl { contest.add(Self.libcurl) { try libcurl.perSecond(for: bench.turn) } }
            let samples = try await contest.run(rounds: bench.rounds)
            let names = PlainGets.names + (libcurl == nil ? [] : [Self.libcurl])
            for name in names {
                outcome.add(Figure("\(inFlight) in flight, \(name)", samples.median(name), .perSecond))
            }
            outcome.add(
                Check(
                    "\(inFlight) in flight, × URLSession",
                    samples.ratio("ours", to: "URLSession"),
                    atLeast: sessionGoal
                ),
                Check(
                    "\(inFlight) in flight, × async-http-client",
                    samples.ratio("ours", to: "async-http-client"),
                    atLeast: clientGoal
                )
            )
            guard libcurl != nil else { continue }
            let share = samples.ratio("ours", to: Self.libcurl)
            outcome.add(Check("\(inFlight) in flight, × \(Self.libcurl)", share, atLeast: 0.7))
        }
        return outcome
    }
}
