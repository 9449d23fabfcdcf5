// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The blog's own connection type, with one method per action.
///
/// It is generic over the provider, so that a test can replace the provider and change nothing else.
package struct BlogConnection<Provider: DataRequestType>: ApiConnectionType {
    package typealias RouterType = BlogRouter

    package let environment: BlogEnvironment
    package let provider: Provider
    package private(set) var configuration: ConnectionConfiguration

    package init(environment: BlogEnvironment, provider: Provider) {
        self.environment = environment
        self.provider = provider
        self.configuration = .blog
    }

    /// Signs in and returns a connection that uses the session.
    package func signedIn(with credentials: Credentials) async throws(ApiConnectorError) -> Self {
        let session: Session = try await value(at: .auth(credentials))
        var connection = self
        connection.configuration.headers[.authorization] = "Bearer \(session.token)"
        return connection
    }

    package func me() async throws(ApiConnectorError) -> Author {
        try await value(at: .me)
    }

    package func posts(for day: Date) async throws(ApiConnectorError) -> [Post] {
        try await value(at: .posts(for: day))
    }

    package func post(by author: String, slug: String) async throws(ApiConnectorError) -> Post {
        try await value(at: .post(author: author, slug: slug))
    }

    /// Publishes a post.
    ///
    /// The response's `Location` is the URL of the post.
    package func publish(_ draft: Draft) async throws(ApiConnectorError) -> DecodedResponse<Post> {
        try await response(of: Post.self, at: .publish(draft))
    }
}

extension BlogConnection where Provider: DefaultDataRequestType {
    /// Makes a connection with a new provider of type `Provider`.
    package init(environment: BlogEnvironment) {
        self.init(environment: environment, provider: Provider())
    }
}

extension ConnectionConfiguration {
    /// The blog's requirements for a client: dates in ISO 8601.
    package static var blog: ConnectionConfiguration {
        ConnectionConfiguration(encoder: .blog, decoder: .blog)
    }
}

extension JSONEncoder {
    /// The blog's JSON format.
    package static var blog: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}

extension JSONDecoder {
    /// The blog's JSON format.
    package static var blog: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
