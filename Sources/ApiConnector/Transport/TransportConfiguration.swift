// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Settings for both transports: trusted certificates, pins, client certificate, proxy and cookies.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.certificateAuthorityFile = authority
/// configuration.proxy = .url(proxy)
/// let provider = SystemProvider(configuration: configuration)
/// ```
///
/// | Setting | `CurlProvider` | `URLSessionProvider` on Apple's systems | on Linux |
/// |---|---|---|---|
/// | ``certificateAuthorityFile`` | yes | no | no |
/// | ``pinnedPublicKeys`` | yes | yes | no |
/// | ``clientCertificate`` | yes | no | no |
/// | ``proxy`` | yes | yes | ``Proxy/system`` only |
/// | ``cookies`` | yes | yes | yes |
///
/// If a platform does not support a setting, the provider sends nothing: each call fails with kind `.invalidRequest`
/// and a text that names the setting. `CurlConfiguration` has these settings, too, and libcurl's own settings.
public struct TransportConfiguration: Sendable, Hashable {
    /// A PEM file of certificates to trust instead of the system's certificates; nil by default.
    public var certificateAuthorityFile: URL?

    /// The pinned keys, of which a server must have one; empty by default, which accepts any key.
    public var pinnedPublicKeys: Set<PublicKeyPin> = []

    /// The certificate that authenticates this client; nil by default.
    public var clientCertificate: ClientCertificate?

    /// The proxy; ``Proxy/system`` by default.
    public var proxy: Proxy = .system

    /// How cookies are handled; ``Cookies/ignored`` by default.
    public var cookies: Cookies = .ignored

    /// Makes a configuration with its defaults.
    public init() {}
}

extension TransportConfiguration {
    /// A client certificate.
    public struct ClientCertificate: Sendable, Hashable {
        /// The PEM file of the certificate.
        public var certificateFile: URL
        /// The PEM file of the private key.
        public var keyFile: URL
        /// The password of the key; nil, the default, for a key without encryption.
        public var password: String?

        /// Makes a client certificate from its files.
        public init(certificateFile: URL, keyFile: URL, password: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.password = password
        }
    }

    /// The proxy for requests.
    public enum Proxy: Sendable, Hashable {
        /// The system's proxy: on Linux the environment variables `http_proxy`, `https_proxy`, `all_proxy` and
        /// `no_proxy`, elsewhere the network settings.
        case system
        /// No proxy, regardless of the system's settings.
        case none
        /// A proxy with the scheme `http`, `https`, `socks4`, `socks5` or `socks5h`, with user and password if it
        /// requires them.
        ///
        /// It is used for every host, because the environment variable `no_proxy` only applies to the environment's
        /// proxies.
        ///
        /// A `URLSession` supports `http` and `socks5` without a user.
        case url(URL)

        /// ``system`` under libcurl's name.
        public static var environment: Proxy { .system }
    }

    /// How cookies are handled.
    public enum Cookies: Sendable, Hashable {
        /// Cookies are not stored; the header fields are still delivered.
        case ignored
        /// Cookies are stored in memory as long as the provider lives, and sent to their servers.
        ///
        /// All calls of the provider share the cookies, so two users need two providers. A cache around the provider
        /// stores nothing; see ``ApiResponse/mayDependOnStoredCookies``. The caller's own `Cookie` field is sent after
        /// the stored cookies.
        ///
        /// libcurl implements RFC 6265, except that it reads the two-digit year `70` as 2070. So a server has to remove
        /// a cookie with `Max-Age=0` or with a four-digit year.
        case inMemory
    }
}

// A client certificate and a proxy contain secrets. A description alone is not sufficient, because `dump` shows the
// properties.

extension TransportConfiguration.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The paths of the files, without the password.
    public var description: String {
        "\(certificateFile.path), \(keyFile.path)\(password == nil ? "" : ", \(Redactor.replacement)")"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TransportConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
    /// The proxy's URL, without user and password.
    public var description: String {
        switch self {
        case .system: "environment"
        case .none: "none"
        // With its port: the default port of a proxy depends on the transport.
        case .url(let url): Redactor.standard.redact(urlText: url.absoluteString)
        }
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
