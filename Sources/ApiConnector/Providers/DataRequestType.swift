// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Sends requests.
///
/// This protocol is the library's only interface to the outside world.
///
/// A transport is a provider, and so is a test double. A wrapper that changes how a request is sent is a provider that
/// contains another provider.
///
/// ```swift
/// struct Stamped<Wrapped: DataRequestType>: DataRequestType {
///     let wrapped: Wrapped
///
///     func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
///         var request = request
///         request.headers["X-Stamp"] = "1"
///         return try await wrapped.response(for: request)
///     }
/// }
/// ```
///
/// ## Store a provider or a connection
///
/// `NetworkConnector<any DataRequestType, Router>` does not compile: "type 'any DataRequestType' cannot conform to
/// 'DataRequestType'". A type parameter needs one type, and `any` stands for many. `some DataRequestType` stands for
/// one hidden type; a parameter can have this type, but a stored property needs an initial value.
///
/// | Where | Write |
/// |---|---|
/// | A view model that makes calls | `let api: any ApiConnectionType<Router>` |
/// | A parameter | `some DataRequestType`, `some ApiConnectionType<Router>` |
/// | A type that is generic anyway | `struct ApiConnection<Provider: DataRequestType>` |
/// | A type argument that is chosen at run time | ``AnyProvider`` |
public protocol DataRequestType: Sendable {
    /// Sends a request and returns the response.
    ///
    /// - A response with any status is returned, never thrown. This includes redirects, which a provider does not
    ///   follow.
    /// - A body that is longer than ``ApiRequest/delivery`` allows, or that breaks off, is an error, never a response.
    /// - Bytes after the end of a body belong neither to that body nor to another response (RFC 9112, section 6.3).
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` immediately after the task was canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse
}
