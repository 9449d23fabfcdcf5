// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ArgumentParser

/// A check that is known to be short of its goal, and its limit.
struct KnownShort: ExpressibleByArgument, Sendable, Equatable {
    let goal: String
    let check: String
    /// The worst allowed value: a minimum or a maximum, depending on the check.
    let limit: Double

    /// Parses the goal's number, the check's name and the limit, such as `G3 on top of the decoding: 9.5`.
    init?(argument text: String) {
        guard let parts = text.wholeMatch(of: #/(G[0-9]+) (.+): ([0-9.]+)/#), let limit = Double(parts.3) else {
            return nil
        }
        goal = String(parts.1)
        check = String(parts.2)
        self.limit = limit
    }
}
