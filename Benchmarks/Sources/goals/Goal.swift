// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// One of the goals: how it is measured, and what counts as met.
protocol Goal: Sendable {
    /// `G1` and so on.
    var number: String { get }

    /// What it is about, in a few words.
    var title: String { get }

    /// Measures it and its rivals.
    @concurrent
    func measure(on bench: Bench) async throws -> Outcome
}

/// Every goal, in order; one file each.
let allGoals: [any Goal] = [
    G01SmallGet(),
    G02URLSessionGet(),
    G03CannedResponse(),
    G04LargeBody(),
    NotBuiltGoal(number: "G5", title: "a million NDJSON records, decoded", issue: 6),
    NotBuiltGoal(number: "G6", title: "server-sent events and elements of an array", issue: 6),
    G07RouteURL(),
    G08Wrappers(),
    NotBuiltGoal(number: "G9", title: "growth of the parsers", issue: 6),
    G10IdleStreams(),
    G11NewcomersClock(),
]

/// The place of a goal whose subject another issue builds.
struct NotBuiltGoal: Goal {
    let number: String
    let title: String
    let issue: Int

    func measure(on bench: Bench) async throws -> Outcome {
        Outcome(goal: number, title: title, notBuilt: ["issue \(issue)"])
    }
}
