// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// New TLS connections.
///
/// The server closes each connection after one response.
struct G12SecureConnections: Goal {
    let number = "G12"
    let title = "a new TLS connection for each small GET, HTTP/1.1"

    func measure(on bench: Bench) async throws -> Outcome {
        let nginx = try bench.nginx()
        let contest = SecureContest(
            port: nginx.closingPort,
            inFlight: 4,
            clients: [.ours, .urlSession, .asyncHTTPClient]
        )
        let reading = try contest.run(nginx, on: bench)
        var outcome = Outcome(goal: number, title: title)
        contest.addFigures(of: reading, to: &outcome)
        outcome.add(
            contest.check(reading, against: .asyncHTTPClient, atLeast: 1.8),
            contest.check(reading, against: .urlSession, atLeast: 30)
        )
        return outcome
    }
}
