// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A source of answers for a test double.
public protocol ResponseSource: Sendable {
    /// Returns the answer to a request.
    ///
    /// - Throws: The call's error. An `ApiConnectorError` is thrown unchanged, a `URLError` as a transport maps it, any
    ///   other error as kind `.other`.
    func response(for request: ApiRequest) async throws -> TestConnectorResponse
}
