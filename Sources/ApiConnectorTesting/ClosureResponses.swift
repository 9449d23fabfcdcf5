// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A closure as a source of answers.
public struct ClosureResponses: ResponseSource {
    private let answer: @Sendable (ApiRequest) async throws -> TestConnectorResponse

    init(_ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse) {
        self.answer = answer
    }

    /// Returns the closure's answer.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await answer(request)
    }
}
