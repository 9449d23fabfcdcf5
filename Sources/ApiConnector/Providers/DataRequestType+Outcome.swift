// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
