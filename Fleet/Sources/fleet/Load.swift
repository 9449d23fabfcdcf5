// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTraffic

/// The processes of a proof, and the limit that they share.
struct Load: Sendable {
    var processCount = 8
    /// The number of callers of each process; each makes one call after the other.
    var callerCount = 16
    /// How many calls a second all processes together may start.
    var rate = 5000
    /// The most tokens that a process takes at a time.
    var batchCount = SharedLimitPolicy().batchCount
    /// Whether each process has its own limit and session, so that the proof has to fail.
    var isUnshared = false

    var burst: Int { max(rate / 10, 1) }

    /// The calls that may arrive in addition to the rate and the burst.
    ///
    /// They are the tokens that the processes hold, and the calls that have started but not yet arrived.
    var slack: Int { processCount * (batchCount * 3 / 2 + callerCount) }

    /// The arguments of a ``LimitWorker``.
    var arguments: [String] {
        [
            "limit-worker", "--process-count", "\(processCount)", "--caller-count", "\(callerCount)", "--rate",
            "\(rate)",
            "--burst-count", "\(burst)", "--batch-count", "\(batchCount)",
        ] + (isUnshared ? ["--alone"] : [])
    }
}
