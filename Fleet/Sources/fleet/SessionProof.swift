// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTraffic
import Crypto
import Foundation
import Servers

/// The proof with 8 processes and one session.
///
/// Each expiry of the token must cause one refresh, even if processes are killed during a refresh.
struct SessionProof {
    let expiryCount: Int
    /// In this number of refreshes, on average one process is killed before the answer, and one after the answer; 0
    /// kills none.
    let killShare: Int
    /// The server answers a refresh only after it has refused calls of this number of processes.
    var waitingCount = 0

    func run(in store: Store) async throws -> [String] {
        let server = TokenServer(expiryCount: expiryCount, killShare: killShare, processCount: waitingCount)
        let backend = try await Backend { server.answer(to: $0) }
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
        try await SharedSession<Tokens>(in: store, key: key).signIn(Tokens(number: 0))
        let arguments = ["session-worker", "--port", "\(backend.port)", "--store", store.argument, "--key", key]
        var children = try (0..<LoadOptions.processCount).map { _ in try Child(arguments) }
        defer { for child in children { child.kill() } }
        let start = ContinuousClock.now
        var problems: [String] = []
        while !children.isEmpty, problems.count < 3 {
            if ContinuousClock.now - start > .seconds(60) + .seconds(expiryCount) {
                problems.append("not at its end in time: \(server.counts)")
                break
            }
            try await Task.sleep(for: .milliseconds(5))
            for (index, child) in children.enumerated().reversed() {
                guard let end = child.end() else { continue }
                children.remove(at: index)
                if end.signal == SIGKILL {
                    // Another process replaces the killed one.
                    if !server.isDone { children.append(try Child(arguments)) }
                } else if end.status != 0 {
                    problems.append("a process ended with signal \(end.signal), status \(end.status): \(end.text)")
                }
            }
        }
        let counts = server.counts
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print("  \(counts.expiryCount) expiries caused \(counts.refreshCount) refreshes, in \(Int(seconds)) s")
        print(
            "  processes killed: \(counts.killedBeforeCount) before the answer to their refresh,"
                + " \(counts.killedAfterCount) after it; of these, \(counts.repeatCount) before they had stored the session"
        )
        print(
            "  \(counts.callCount) calls answered, \(counts.refusedProcesses.count) processes refused; \(counts.needlessCount) refreshes without need,"
                + " \(counts.reuseCount) tokens used twice"
        )
        if counts.expiryCount != expiryCount || counts.refreshCount != expiryCount {
            problems.append("\(expiryCount) expiries are to cause as many refreshes")
        }
        if counts.needlessCount > 0 { problems.append("\(counts.needlessCount) refreshes of a valid token") }
        if counts.reuseCount > 0 { problems.append("\(counts.reuseCount) refresh tokens used twice") }
        if killShare > 0, expiryCount > killShare * 10, counts.killedBeforeCount * counts.killedAfterCount == 0 {
            problems.append("too few processes were killed for this to say anything")
        }
        return problems
    }
}
