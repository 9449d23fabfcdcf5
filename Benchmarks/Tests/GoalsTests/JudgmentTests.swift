// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import goals

struct JudgmentTests {
    private func outcome(_ value: Double, isAtLeast: Bool = true, _ unit: goals.Unit = .times) -> Outcome {
        var outcome = Outcome(goal: "G4", title: "a body")
        outcome.add(
            isAtLeast
                ? Check("fast, × rival", value, atLeast: 2, unit) : Check("fast, × rival", value, atMost: 2, unit)
        )
        return outcome
    }

    private func known(_ text: String) throws -> [KnownShort] { [try #require(KnownShort(argument: text))] }

    @Test func readsACheckAndItsLimit() throws {
        let known = try #require(KnownShort(argument: "G4 fast consumer, × a rival: with a colon: 0.45"))
        #expect(known.goal == "G4")
        #expect(known.check == "fast consumer, × a rival: with a colon")
        #expect(known.limit == 0.45)
        for text in ["G4", "G4: 1", "fast: 1", "G4 fast: much", "G4 fast 1"] {
            #expect(KnownShort(argument: text) == nil)
        }
    }

    @Test func failsOnAShortCheckAndInAQuickRunOnOneAQuarterOff() {
        #expect(Judgment(of: [outcome(2)], knownShort: [], isQuick: false).failures.isEmpty)
        #expect(Judgment(of: [outcome(1.9)], knownShort: [], isQuick: false).failures.count == 1)
        #expect(Judgment(of: [outcome(1.5)], knownShort: [], isQuick: true).failures.isEmpty)
        #expect(
            Judgment(of: [outcome(1.49)], knownShort: [], isQuick: true).failures
                == ["G4 fast, × rival 1.49 × (goal ≥ 2.00 ×, short)"]
        )
        #expect(Judgment(of: [outcome(.nan)], knownShort: [], isQuick: true).failures.count == 1)
    }

    @Test(arguments: [true, false])
    func oneThatIsKnownFailsPastItsLimitOnly(isQuick: Bool) throws {
        let known = try known("G4 fast, × rival: 0.8")
        #expect(Judgment(of: [outcome(0.8)], knownShort: known, isQuick: isQuick).failures.isEmpty)
        #expect(
            Judgment(of: [outcome(0.79)], knownShort: known, isQuick: isQuick).failures
                == ["G4 fast, × rival 0.79 × (goal ≥ 2.00 ×, short) is worse than its known limit 0.80 ×"]
        )
        #expect(Judgment(of: [outcome(.nan)], knownShort: known, isQuick: isQuick).failures.count == 1)
        let most = try self.known("G4 fast, × rival: 5")
        #expect(Judgment(of: [outcome(5, isAtLeast: false)], knownShort: most, isQuick: isQuick).failures.isEmpty)
        #expect(Judgment(of: [outcome(5.1, isAtLeast: false)], knownShort: most, isQuick: isQuick).failures.count == 1)
    }

    @Test func saysThatOneIsMet() throws {
        let judgment = Judgment(of: [outcome(2)], knownShort: try known("G4 fast, × rival: 0.8"), isQuick: true)
        #expect(judgment.failures.isEmpty)
        #expect(judgment.notes.count == 1)
        #expect(judgment.notes.first?.hasPrefix("G4 fast, × rival 2.00 × (goal ≥ 2.00 ×) is met here") == true)
    }

    @Test func exemptsNothingElseOfTheGoal() throws {
        var outcome = outcome(1)
        outcome.add(Check("other requests", 9, atMost: 1.2))
        let judgment = Judgment(of: [outcome], knownShort: try known("G4 fast, × rival: 0.8"), isQuick: true)
        #expect(judgment.failures == ["G4 other requests 9.00 × (goal ≤ 1.20 ×, short)"])
    }

    @Test(arguments: [goals.Unit.count, .megabytes, .kilobytes])
    func exemptsNoBytesAndNoCounts(unit: goals.Unit) throws {
        let known = try known("G4 fast, × rival: 9")
        let judgment = Judgment(of: [outcome(1, isAtLeast: false, unit)], knownShort: known, isQuick: true)
        #expect(judgment.failures.count == 1)
        #expect(judgment.failures.first?.hasSuffix("does not measure speed and cannot be known to be short") == true)
    }

    @Test func refusesACheckThatIsNotThere() throws {
        let known = try known("G4 fast: 9")
        #expect(
            Judgment(of: [outcome(2)], knownShort: known, isQuick: true).failures
                == ["G4 has no check 'fast' for --known-short"]
        )
        // The results omit goals that were not requested and goals that a quick run skips.
        #expect(Judgment(of: [], knownShort: known, isQuick: true).failures.isEmpty)
        let unmeasured = Outcome(goal: "G4", title: "a body")
        #expect(Judgment(of: [unmeasured], knownShort: known, isQuick: true).failures.isEmpty)
    }
}
