// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A small GET over TLS and HTTP/2.
struct G14MultiplexedGet: Goal {
    let number = "G14"
    let title = "a small GET over TLS and HTTP/2"

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        var outcome = Outcome(goal: number, title: title)
        for inFlight in [1, 16, 64] {
            let contest = SecureContest(
                port: nginx.multiplexedPort,
                inFlight: inFlight,
                clients: bench.isQuick ? [.ours, .asyncHTTPClient] : [.ours, .urlSession, .asyncHTTPClient]
            )
            let reading = try contest.run(nginx, on: bench)
            contest.addFigures(of: reading, to: &outcome)
            outcome.add(contest.check(reading, against: .asyncHTTPClient, atLeast: 1.8))
        }
        return outcome
    }
}
