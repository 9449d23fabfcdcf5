// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// What a test supplies: the answer to a request.
public protocol ResponseSource: Sendable {
    /// The answer to a request.
    ///
    /// - Throws: What the call fails with: an `ApiConnectorError` as it is, a `URLError` as a transport would map it,
    ///   anything else as kind `.other`.
    func response(for request: ApiRequest) async throws -> TestConnectorResponse
}
