// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A small GET over TLS and HTTP/1.1, on connections that are kept alive.
struct G13SecureGet: Goal {
    let number = "G13"
    let title = "a small GET over TLS and HTTP/1.1, kept alive"

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let contest = SecureContest(
            port: nginx.securePort,
            inFlight: 16,
            clients: bench.isQuick ? [.ours, .asyncHTTPClient] : [.ours, .urlSession, .asyncHTTPClient]
        )
        let reading = try contest.run(nginx, on: bench)
        var outcome = Outcome(goal: number, title: title)
        contest.addFigures(of: reading, to: &outcome)
        outcome.add(contest.check(reading, against: .asyncHTTPClient, atLeast: 1.3))
        return outcome
    }
}
