// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How long a test's steps take: on a busy machine, under a sanitizer, a test may stand still for minutes.
///
/// libcurl does not use a connection again that was idle for more than 118 seconds, rightly, and then a test can tell
/// nothing by their number.
package struct Pace {
    private let time = SystemTimeSource()
    private var last: Duration
    private var longest = Duration.zero

    /// Begins now.
    package init() {
        last = time.now
    }

    /// Records the end of a step.
    package mutating func step() {
        longest = max(longest, time.now - last)
        last = time.now
    }

    /// Whether no step took so long that a connection may have been given up.
    package var keepsConnections: Bool { longest < .seconds(60) }
}
