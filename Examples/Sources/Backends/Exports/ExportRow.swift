// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// One line of a large export.
package struct ExportRow: ApiModel, Hashable {
    package let id: Int
    package let name: String
    package let amount: Int

    package init(id: Int, name: String, amount: Int) {
        self.id = id
        self.name = name
        self.amount = amount
    }
}
