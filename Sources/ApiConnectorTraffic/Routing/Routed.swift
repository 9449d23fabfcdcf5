// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A provider that hands some requests to others, by a closure or by where they go; made by `routing(_:)`.
struct Routed<Wrapped: DataRequestType>: DataRequestType {
    private let wrapped: Wrapped
    private let choose: @Sendable (ApiRequest) -> (any DataRequestType)?

    init(_ wrapped: Wrapped, _ choose: @escaping @Sendable (ApiRequest) -> (any DataRequestType)?) {
        self.wrapped = wrapped
        self.choose = choose
    }

    /// Sends the request by the provider that was chosen for it, and by the wrapped one where none was.
    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        guard let chosen = choose(request) else { return try await wrapped.response(for: request) }
        return try await chosen.response(for: request)
    }
}

extension DataRequestType {
    /// This provider, except for requests that a closure hands to another one, such as those of a class of routes.
    ///
    /// ```swift
    /// let uploads = SystemProvider().limiting(RequestLimit(concurrent: 2))
    /// let provider = SystemProvider().retrying().routing { $0.routeName == "upload" ? uploads : nil }
    /// ```
    ///
    /// Each hop of a redirect is its own request.
    ///
    /// - Parameter choose: The provider for a request; nil is this one.
    public func routing(_ choose: @escaping @Sendable (ApiRequest) -> (any DataRequestType)?) -> some DataRequestType {
        Routed(self, choose)
    }

    /// This provider, except for requests to the hosts of some URLs, each of which has its own.
    ///
    /// - Parameter origins: The providers by where they are for; of a URL only scheme, host and port matter.
    public func routing(_ origins: [URL: any DataRequestType]) -> some DataRequestType {
        let pairs = origins.compactMap { url, provider in HTTPOrigin(url).map { ($0, provider) } }
        let providers = Dictionary(pairs) { first, _ in first }
        return Routed(self) { request in HTTPOrigin(request.url).flatMap { providers[$0] } }
    }
}
