// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Scheme, host and port of a URL (RFC 6454); a default port and none are the same.
struct Origin: Hashable, Sendable {
    let scheme: HTTPScheme
    let host: String
    let port: Int

    /// Nil for a URL that is neither http nor https, or has no host.
    init?(_ url: URL) {
        guard let scheme = url.scheme.flatMap({ HTTPScheme(rawValue: $0.lowercased()) }),
            let host = url.host(percentEncoded: false), !host.isEmpty
        else { return nil }
        self.init(scheme, host: host, port: url.port)
    }

    /// The origin of an environment.
    init(_ environment: some ApiEnvironment) {
        self.init(environment.scheme, host: environment.host, port: environment.port)
    }

    /// Whether a URL is at an environment's origin letter for letter, as a route's own is; false says nothing.
    static func isPlainly(_ environment: some ApiEnvironment, _ url: URL) -> Bool {
        let scheme = environment.scheme
        return url.host(percentEncoded: false) == environment.host && url.scheme == scheme.rawValue
            && url.port ?? scheme.defaultPort == environment.port ?? scheme.defaultPort
    }

    /// A Unicode name and its punycode are one host.
    private init(_ scheme: HTTPScheme, host: String, port: Int?) {
        self.scheme = scheme
        self.host = EncodedHost(host).text.lowercased()
        self.port = port ?? scheme.defaultPort
    }
}
