// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

enum ComingFromAlamofire {
    enum Api: ApiRouter {
        typealias EnvironmentType = Server
        case user(id: Int)
        case create(Draft)

        var path: ApiPath {
            switch self {
            case .user(let id): "/users/\(id)"
            case .create: "/users"
            }
        }

        var method: HTTPMethod {
            if case .create = self { .post } else { .get }
        }

        var body: RequestBody {
            if case .create(let draft) = self { .json(draft) } else { .empty }
        }
    }

    static func calls(draft: Draft) async {
        let api = NetworkConnector<SystemProvider, Api>(environment: .production)
        do {
            show(try await api.value(User.self, at: .create(draft)).name)
        } catch {
            show(error.description)
        }
        do {
            try await api.send(at: .create(draft))
        } catch {
            show(error.response?.bodyPrefix ?? error.description)
        }
    }

    private static func show(_ text: String) { print(text) }
}
