// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A source of answers for a test double.
public protocol ResponseSource: Sendable {
    /// Returns the answer to a request.
    ///
    /// - Throws: The call's error. An `ApiConnectorError` is thrown unchanged. A `URLError` is mapped as a transport
    ///   maps it. Any other error becomes kind `.other`.
    func response(for request: ApiRequest) async throws -> TestConnectorResponse
}
