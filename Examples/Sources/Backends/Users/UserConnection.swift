// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The API class of the blog post on a simple API client.
///
/// Its methods return an outcome: switch on it, or call `get()` to get the value or throw an error.
package struct UserConnection<Provider: DataRequestType>: ApiConnectionType {
    package typealias RouterType = UserRouter

    package let environment: BackendEnvironment
    package let provider: Provider

    /// The common header fields; a call's header fields override them.
    package let configuration = ConnectionConfiguration(headers: [.accept: "application/json", .userAgent: "demo"])

    package init(environment: BackendEnvironment, provider: Provider) {
        self.environment = environment
        self.provider = provider
    }

    package func userInfo(
        id: String,
        headers: HTTPHeaders = HTTPHeaders()
    ) async -> ApiOutcome<User, CodedFailure> {
        await outcome(at: .userInfo(id: id), options: CallOptions(headers: headers))
    }

    package func updateUserInfo(
        _ user: User,
        headers: HTTPHeaders = HTTPHeaders()
    ) async -> ApiOutcome<User, CodedFailure> {
        await outcome(at: .updateUserInfo(user), options: CallOptions(headers: headers))
    }
}
