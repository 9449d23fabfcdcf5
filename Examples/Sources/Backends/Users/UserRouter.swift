// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// One endpoint with two methods; every response is `{"data": …}` or `{"error": {"code": …, "message": …}}`.
package enum UserRouter: ApiRouter {
    package typealias EnvironmentType = BackendEnvironment
    package typealias EnvelopeType = DataEnvelope<CodedFailure>

    case userInfo(id: String)
    case updateUserInfo(User)

    package var path: ApiPath {
        switch self {
        case .userInfo(let id): "/user/\(id)"
        case .updateUserInfo(let user): "/user/\(user.userId)"
        }
    }

    package var method: HTTPMethod {
        switch self {
        case .userInfo: .get
        case .updateUserInfo: .put
        }
    }

    package var body: RequestBody {
        switch self {
        case .userInfo: .empty
        case .updateUserInfo(let user): .json(user)
        }
    }
}
