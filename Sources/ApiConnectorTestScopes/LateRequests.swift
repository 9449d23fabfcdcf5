// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of this run that reached a script after its test had ended.
///
/// Each of these requests failed, and its error was printed to standard error. A test that runs last can check this
/// list.
package enum LateRequests {
    private static let texts = Locked<[String]>([])

    /// One sentence per request, in order of arrival.
    package static var all: [String] { texts.withLock { $0 } }

    static func note(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
