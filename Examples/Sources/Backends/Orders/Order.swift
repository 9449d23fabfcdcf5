// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An order that a customer places.
package struct OrderRequest: Codable, Sendable, Equatable {
    package let customerId: String
    package let itemNumber: String
    package let quantity: Int

    package init(customerId: String, itemNumber: String, quantity: Int) {
        self.customerId = customerId
        self.itemNumber = itemNumber
        self.quantity = quantity
    }
}

/// An order that the shop accepted.
package struct Order: Codable, Sendable, Equatable {
    package let orderId: String
    package let customerId: String
    package let itemNumber: String
    package let quantity: Int

    package init(orderId: String, customerId: String, itemNumber: String, quantity: Int) {
        self.orderId = orderId
        self.customerId = customerId
        self.itemNumber = itemNumber
        self.quantity = quantity
    }
}
