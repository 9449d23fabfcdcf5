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

/// A source of answers that a type alias alone can name.
///
/// ```swift
/// struct PostsResponses: ResponseProvider {
///     func response(for request: ApiRequest) async throws -> TestConnectorResponse {
///         .json([Post.sample])
///     }
/// }
/// ```
public protocol ResponseProvider: ResponseSource {
    /// Makes the source.
    init()
}

/// A closure as a source of answers.
public struct ClosureResponses: ResponseSource {
    private let answer: @Sendable (ApiRequest) async throws -> TestConnectorResponse

    init(_ answer: @escaping @Sendable (ApiRequest) async throws -> TestConnectorResponse) {
        self.answer = answer
    }

    /// What the closure answers.
    public func response(for request: ApiRequest) async throws -> TestConnectorResponse {
        try await answer(request)
    }
}
