// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A stock that requires a token.
package enum StockRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    case items
    case item(Int)
    case newToken

    package var path: ApiPath {
        switch self {
        case .items: "/items"
        case .item(let number): "/items/\(number)"
        case .newToken: "/token"
        }
    }

    package var method: HTTPMethod {
        switch self {
        case .items, .item: .get
        case .newToken: .post
        }
    }
}

/// The numbers of the items.
///
/// The response is fresh for a minute.
package struct StockList: Decodable, Sendable, Equatable {
    package let items: [Int]
}

/// An item.
package struct StockItem: Decodable, Sendable, Equatable {
    package let item: Int
}

/// A token for the stock.
package struct StockToken: Decodable, Sendable, Equatable {
    package let token: String
}

extension BackendEnvironment {
    /// The stock, whose server can fail according to a plan.
    package static func stock(on location: ServerLocation) -> Self { Self(location: location, name: "stock") }
}
