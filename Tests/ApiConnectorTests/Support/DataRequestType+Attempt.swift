// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnector

extension DataRequestType {
    /// Sends a request made by hand as a connection with these limits does.
    func attempt(_ request: ApiRequest, within timeouts: Timeouts) async throws(ApiConnectorError) -> ApiResponse {
        var request = request
        request.timeouts = timeouts
        return try await response(for: request).watched(as: request).collectedIfWanted(by: request)
    }
}
