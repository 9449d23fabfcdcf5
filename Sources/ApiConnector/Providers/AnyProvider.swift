// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Any provider behind one type, for a program that chooses its provider when it starts.
///
/// ```swift
/// let provider = isOffline ? AnyProvider(SampleProvider()) : AnyProvider(SystemProvider().retrying())
/// let api = NetworkConnector(environment: .production, provider: provider, router: Router.self)
/// ```
///
/// A view model that only makes calls stores `any ApiConnectionType<Router>`, and needs no such type.
public struct AnyProvider: DataRequestType {
    private let wrapped: any DataRequestType

    /// Hides the type of a provider.
    public init(_ provider: some DataRequestType) {
        wrapped = provider
    }

    /// What the hidden provider answers.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await wrapped.response(for: request)
    }
}
