// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ApiRequest {
    /// A redactor that knows the names of the request's secrets, not their values.
    var nameRedactor: Redactor { redactor(from: .standard, includingValues: false) }
}
