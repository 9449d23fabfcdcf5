// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The result of a run: failures, and notes for the reader.
struct Judgment {
    private(set) var failures: [String] = []
    private(set) var notes: [String] = []

    /// Judges every check on its own.
    ///
    /// - A check that is known to be short fails the run only if its value is worse than its limit, also in a quick
    ///   run.
    /// - Any other check fails the run if it is short. In a quick run, it fails the run only if it is more than 25 %
    ///   off.
    /// - If a check on the list of known short checks is met, it is reported. It does not fail the run, because it may
    ///   be short again on a busy machine.
    init(of outcomes: [Outcome], knownShort: [KnownShort], isQuick: Bool) {
        for outcome in outcomes {
            var known = knownShort.filter { $0.goal == outcome.goal }
            for check in outcome.checks {
                let place = known.firstIndex { $0.check == check.name }
                judge(check, of: outcome.goal, place.map { known.remove(at: $0) }, isQuick)
            }
            // A goal that this run does not measure has no checks.
            for rest in known where !outcome.checks.isEmpty {
                failures.append("\(rest.goal) has no check '\(rest.check)' for --known-short")
            }
        }
    }

    private mutating func judge(_ check: Check, of goal: String, _ known: KnownShort?, _ isQuick: Bool) {
        let text = "\(goal) \(check.text)"
        guard let known else {
            if isQuick ? check.isFarOff : !check.isMet { failures.append(text) }
            return
        }
        let limit = check.unit.text(known.limit)
        if !check.unit.isSpeed {
            failures.append("\(text) does not measure speed and cannot be known to be short")
        } else if !check.reaches(known.limit) {
            failures.append("\(text) is worse than its known limit \(limit)")
        } else if check.isMet {
            notes.append(
                "\(text) is met here but listed as known to be short; remove it from the list if a busy run agrees"
            )
        }
    }
}
