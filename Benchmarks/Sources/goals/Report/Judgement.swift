// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a run comes to: what fails it, and what its reader should know.
struct Judgement {
    private(set) var failures: [String] = []
    private(set) var notes: [String] = []

    /// Judges every check by itself.
    ///
    /// One that is known to be short fails the run past its limit only, in a quick run too. Any other fails it where it
    /// is short, and in a quick run where it is a quarter off. That one on the list is met is said and does not fail
    /// the run: the next machine may be a busy one.
    init(of outcomes: [Outcome], knownShort: [KnownShort], isQuick: Bool) {
        for outcome in outcomes {
            var known = knownShort.filter { $0.goal == outcome.goal }
            for check in outcome.checks {
                let place = known.firstIndex { $0.check == check.name }
                judge(check, of: outcome.goal, place.map { known.remove(at: $0) }, isQuick)
            }
            // A goal that this run does not measure has no checks at all.
            for rest in known where !outcome.checks.isEmpty {
                failures.append("\(rest.goal) has no check '\(rest.check)' that could be known to be short")
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
            failures.append("\(text) is no speed, and cannot be known to be short")
        } else if !check.reaches(known.limit) {
            failures.append("\(text) is worse than the \(limit) that are known")
        } else if check.isMet {
            notes.append(
                "\(text) is met here, and listed as known to be short; it can leave the list if a busy run agrees"
            )
        }
    }
}
