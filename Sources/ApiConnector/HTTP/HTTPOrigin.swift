// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The scheme, host and port of a URL (RFC 6454).
///
/// Use it as the key for per-server state in a wrapper. A missing port equals the scheme's default port, and a Unicode
/// host name equals its punycode.
public struct HTTPOrigin: Hashable, Sendable {
    /// The scheme.
    public let scheme: HTTPScheme

    /// The host in lower case, encoded as it is sent; an IPv6 address has brackets.
    public let host: String

    /// The port; the scheme's default port if the URL has none.
    public let port: Int

    /// The origin of a URL; nil if the URL is neither http nor https, or has no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme.flatMap({ HTTPScheme(rawValue: $0.lowercased()) }),
            let host = url.host(percentEncoded: false), !host.isEmpty
        else { return nil }
        self.init(scheme, host: host, port: url.port)
    }

    init(_ scheme: HTTPScheme, host: String, port: Int?) {
        self.scheme = scheme
        // A Unicode name and its punycode are the same host.
        self.host = EncodedHost(host).text.lowercased()
        self.port = port ?? scheme.defaultPort
    }
}

extension HTTPOrigin: CustomStringConvertible {
    /// Scheme, host and port, as a URL begins, without the scheme's default port: `https://api.example.com`.
    public var description: String {
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        let port = port == scheme.defaultPort ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(isAddress ? "[\(host)]" : host)\(port)"
    }
}
