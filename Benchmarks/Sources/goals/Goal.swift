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
    G05JSONLines(),
    G06EventsAndArrays(),
    G07RouteURL(),
    G08Wrappers(),
    G09Growth(),
    G10IdleStreams(),
    G11NewcomersClock(),
    G12SecureConnections(),
    G13SecureGet(),
    G14MultiplexedGet(),
    G15Upload(),
    G16SecureDownload(),
    G17HostileNeighbours(),
]
