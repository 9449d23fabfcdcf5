// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension DataRequestType {
    /// What a request comes to, for a wrapper that decides on failures.
    func outcome(of request: ApiRequest) async -> Result<ApiResponse, ApiConnectorError> {
        do throws(ApiConnectorError) {
            return .success(try await response(for: request).collectedIfWanted(by: request))
        } catch {
            return .failure(error)
        }
    }
}

extension Result<ApiResponse, ApiConnectorError> {
    /// Ends the transfer of a streamed body that nobody will read.
    func discardBody() {
        if case .success(let response) = self { response.discardBody() }
    }
}
