// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension HTTPHeaders {
    /// Makes header fields from a list of fields.
    init(fields: [Field]) {
        self.init()
        for field in fields { append(field.name, field.value) }
    }
}
