// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The pugs of the workshop: a list, and the details of one pug.
package enum PugRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment

    case list
    case info(id: String)

    package var path: ApiPath {
        switch self {
        case .list: "/api/list.json"
        case .info(let id): "/api/info/\(id).json"
        }
    }
}
