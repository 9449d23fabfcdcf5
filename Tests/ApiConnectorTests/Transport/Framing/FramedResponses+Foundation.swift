// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// The outcomes over `URLSession` on Linux with other versions of libcurl than 7.88, where they differ.
    static let foundationChanges: [FoundationChange<Outcome>] = []
}
