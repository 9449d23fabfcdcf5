// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
