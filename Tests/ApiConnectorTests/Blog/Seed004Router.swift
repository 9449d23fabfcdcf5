// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The Environment and Router of the README of 2016, unchanged but for `import Alamofire`.
import ApiConnector

enum Environment: String, ApiEnvironment {
    case localhost
    case test = "mytestserver.com"
    case production = "myproductionserver.com"
}

enum Router: ApiRouter {
    typealias EnvironmentType = Environment

    case auth, me
    case posts(for: Date)

    var path: String {
        switch self {
        case .auth: return "/auth"
        case .me: return "/me"
        case .posts(_): return "/posts"
        }
    }

    var queryItems: [URLQueryItem]? {
        switch self {
        case let .posts(for: date):
            return [URLQueryItem(name: "date", value: date.convertToString)]
        default:
            return nil
        }
    }

    var method: HTTPMethod {
        switch self {
        case .auth: return .post
        default: return .get
        }
    }
}
