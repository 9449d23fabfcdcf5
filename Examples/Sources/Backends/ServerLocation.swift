// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// The location of a server that is known only at run time, such as a server on a free port.
///
/// For fixed addresses, use an enum with `String` raw values instead, as in `BlogEnvironment`.
package struct ServerLocation: Sendable, Hashable {
    package let scheme: HTTPScheme
    package let host: String
    package let port: Int
    package let basePath: String

    /// Takes a host and a port; the scheme is http.
    package init(host: String, port: Int) {
        scheme = .http
        self.host = host
        self.port = port
        basePath = ""
    }

    /// Takes a URL such as `http://127.0.0.1:8080`, with or without a path; nil for other schemes.
    package init?(_ url: URL) {
        guard let scheme = url.scheme.flatMap({ HTTPScheme(rawValue: $0.lowercased()) }),
            let host = url.host(percentEncoded: false), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = url.port ?? scheme.defaultPort
        let path = url.path(percentEncoded: false)
        self.basePath = path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
