// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The provider of a client whose base URL is that of another server.
package struct Readdressed: DataRequestType {
    private let server: URL

    package init(to server: URL) {
        self.server = server
    }

    package func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        var moved = request
        var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        parts?.scheme = server.scheme
        parts?.host = server.host()
        parts?.port = server.port
        moved.url = parts?.url ?? server
        var response = try await SystemProvider().response(for: moved)
        response.url = request.url
        return response
    }
}
