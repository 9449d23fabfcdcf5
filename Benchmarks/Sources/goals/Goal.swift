// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A performance goal: how it is measured, and when it is met.
protocol Goal: Sendable {
    /// The number, such as `G1`.
    var number: String { get }

    /// A short title.
    var title: String { get }

    /// Measures the library and its rivals.
    @concurrent
    func measure(on bench: Bench) async throws -> Outcome
}

/// All goals in order.
///
/// Each goal has its own file.
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
    G17HostileNeighbors(),
    G18Timings(),
    G21CacheHits(),
    G22DroppedLines(),
]
