// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
