// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The recommended transport of this system: `CurlProvider` on Linux, ``URLSessionProvider`` elsewhere.
///
/// All values made by ``init()`` share their connections. On Linux, the package trait `Curl`, on by default, can be
/// disabled for a build without libcurl.so.4; the transport is then ``URLSessionProvider``, too.
public struct SystemProvider: DefaultDataRequestType {
    #if Curl && os(Linux)
    private typealias Transport = CurlProvider
    #else
    private typealias Transport = URLSessionProvider
    #endif

    private let transport: Transport

    /// Makes a provider with the default configuration.
    public init() {
        transport = Transport()
    }

    /// Makes a provider with its own thread or session, and with connections that no other provider shares.
    ///
    /// ``TransportConfiguration`` lists what each platform supports. With a setting that this platform does not
    /// support, each call fails with kind `.invalidRequest`.
    public init(configuration: TransportConfiguration) {
        #if Curl && os(Linux)
        transport = CurlProvider(configuration: CurlConfiguration(configuration))
        #else
        transport = URLSessionProvider(configuration: configuration)
        #endif
    }

    /// Sends a request and returns the response.
    ///
    /// - Throws: ``ApiConnectorError``; of kind `.cancelled` immediately after the task was canceled.
    public func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        try await transport.response(for: request)
    }
}
