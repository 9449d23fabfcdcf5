// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The one seam to the outside world: how a request travels.
///
/// A transport is one, a test double is one, and so is everything that changes how a request travels: a provider that
/// wraps a provider.
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
/// 'DataRequestType'". A type parameter needs one type, and `any` stands for many. `some DataRequestType` names one
/// hidden type, which a parameter may have, and a stored property without a value may not.
///
/// | Where | Write |
/// |---|---|
/// | A view model that makes calls | `let api: any ApiConnectionType<Router>` |
/// | A parameter | `some DataRequestType`, `some ApiConnectionType<Router>` |
/// | A type that is generic anyway | `struct ApiConnection<Provider: DataRequestType>` |
/// | A type argument that is chosen at run time | ``AnyProvider`` |
public protocol DataRequestType: Sendable {
    /// Sends a request and hands back what came.
    ///
    /// Any status is a response, a redirect too: it is delivered as it is and not followed. A body longer than
    /// ``ApiRequest/delivery`` allows, or one that breaks off, is an error and never a response. Bytes behind the end
    /// of a body are not part of it, and never of another response (RFC 9112, section 6.3).
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled`, and at once, when the task is canceled.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse
}
