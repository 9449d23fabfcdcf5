// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of this run that came to a script whose test had ended.
///
/// They have failed with an error that says so, and stand on standard error; here a last test can look for them.
package enum LateRequests {
    private static let texts = Locked<[String]>([])

    /// A sentence each, in the order in which they came.
    package static var all: [String] { texts.withLock { $0 } }

    static func note(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
