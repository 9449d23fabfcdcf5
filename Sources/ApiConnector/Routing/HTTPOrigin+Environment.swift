// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPOrigin {
    /// The origin of an environment.
    init(_ environment: some ApiEnvironment) {
        self.init(environment.scheme, host: environment.host, port: environment.port)
    }

    /// Whether a URL has exactly the environment's scheme, host and port, like the URL of a route.
    ///
    /// False is inconclusive, because the same origin can be written in another way.
    static func isPlainly(_ environment: some ApiEnvironment, _ url: URL) -> Bool {
        let scheme = environment.scheme
        return url.host(percentEncoded: false) == environment.host && url.scheme == scheme.rawValue
            && url.port ?? scheme.defaultPort == environment.port ?? scheme.defaultPort
    }
}
