// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTraffic

/// The imports of a file that uses a wrapper of the second module.
enum Imports {
    static let provider: some DataRequestType = SystemProvider().retrying().deduplicating()
}
