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

/// A provider that can be created from its type alone, as in `NetworkConnector<SystemProvider, Router>`.
public protocol DefaultDataRequestType: DataRequestType {
    /// Makes the provider with its defaults.
    init()
}

extension DataRequestType {
    /// Sends a request, and returns its response or its error as a result.
    ///
    /// Call it in a wrapper that handles failures. If the request asks for a collected body, a failure while the body
    /// is read is also returned as an error.
    public func outcome(of request: ApiRequest) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            return .success(try await response(for: request).collectedIfWanted(by: request))
        } catch {
            return .failure(error)
        }
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    /// Ends the transfer of a streamed body without reading the rest; does nothing for an error.
    public func discardBody() {
        if case .success(let response) = self { response.discardBody() }
    }
}

/// A type-erased provider, for a program that chooses its provider at run time.
///
/// ```swift
/// let provider = isOffline ? AnyProvider(SampleProvider()) : AnyProvider(SystemProvider().retrying())
/// let api = NetworkConnector(environment: .production, provider: provider, router: Router.self)
/// ```
///
/// A view model that only makes calls can store `any ApiConnectionType<Router>` instead.
public struct AnyProvider: DataRequestType {
    private let wrapped: any DataRequestType

    /// Erases the type of a provider.
    public init(_ provider: some DataRequestType) {
        wrapped = provider
    }

    /// Returns the response of the erased provider.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await wrapped.response(for: request)
    }
}
