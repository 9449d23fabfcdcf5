// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The requests of this run that reached a script after its test had ended.
///
/// Each failed with an error and was printed to standard error. A last test can check this list.
package enum LateRequests {
    private static let texts = Locked<[String]>([])

    /// One sentence per request, in order of arrival.
    package static var all: [String] { texts.withLock { $0 } }

    static func note(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
