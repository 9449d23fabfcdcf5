// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Measures how long a test's steps take.
///
/// On a busy machine, and under a sanitizer, a test may pause for minutes.
///
/// libcurl does not reuse a connection that was idle for more than 118 seconds. So after such a pause, the number of
/// connections proves nothing.
package struct Pace {
    private let time = SystemTimeSource()
    private var last: Duration
    private var longest = Duration.zero

    /// Starts the first step.
    package init() {
        last = time.now
    }

    /// Records the end of a step.
    package mutating func step() {
        longest = max(longest, time.now - last)
        last = time.now
    }

    /// Whether each step was short enough that idle connections were kept.
    package var keepsConnections: Bool { longest < .seconds(60) }
}
