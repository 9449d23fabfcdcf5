// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

enum ShopServer: String, ApiEnvironment {
    case test = "shop.example.com"
    var scheme: HTTPScheme { .https }

    static let elsewhere = URL(string: "https://elsewhere.example.com/tea") ?? URL(filePath: "/")
}

struct Tea: Codable, Equatable, Sendable {
    var id: Int
    var name: String

    static let green = Tea(id: 1, name: "green")
    static let black = Tea(id: 2, name: "black")
}

enum Shop: ApiRouter {
    typealias EnvironmentType = ShopServer
    case teas(page: Int)
    case tea(id: Int)
    case add(Tea)
    case login(password: String)

    var path: ApiPath {
        switch self {
        case .teas, .add: "/teas"
        case .tea(let id): "/teas/\(id)"
        case .login: "/login"
        }
    }

    var queryItems: [URLQueryItem]? {
        if case .teas(let page) = self { [URLQueryItem(name: "page", value: "\(page)")] } else { nil }
    }

    var method: HTTPMethod {
        switch self {
        case .teas, .tea: .get
        case .add, .login: .post
        }
    }

    var headers: HTTPHeaders { ["X-Shop": "tea"] }

    var body: RequestBody {
        switch self {
        case .add(let tea): .json(tea)
        case .login(let password): .form(["user": "ada", "password": password])
        default: .empty
        }
    }
}

extension ApiCall where Router == Shop, Value == [Tea] {
    static var greens: Self { Self(.teas(page: 1)) }
}

extension ApiCall where Router == Shop, Value == Void {
    static var login: Self { Self(.login(password: "tea")) }
}

typealias ShopConnection = NetworkConnector<TestConnector<Script<Shop>>, Shop>

extension Script where Router == Shop {
    /// A connection that this script answers.
    func connection(_ configuration: ConnectionConfiguration = ConnectionConfiguration()) -> ShopConnection {
        ShopConnection(environment: .test, provider: TestConnector(self), configuration: configuration)
    }
}

/// A place in a test's own file, as texts show it.
func place(_ line: Int, fileID: String = #fileID) -> String {
    "\(fileID.split(separator: "/").last ?? ""):\(line)"
}
