// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A source of answers that can be made without arguments, so that a type alias can select it.
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
