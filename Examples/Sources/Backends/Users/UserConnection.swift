// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The users as a program sees them: the API class of the post on a simple API client.
///
/// Its methods give an outcome: switch on it, or call `get()` to have the value or an error.
package struct UserConnection<Provider: DataRequestType>: ApiConnectionType {
    package typealias RouterType = UserRouter

    package let environment: BackendEnvironment
    package let provider: Provider

    /// The common header fields; those of a call are laid over them.
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
