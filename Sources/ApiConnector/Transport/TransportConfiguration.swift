// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Trust, pins, client certificate, proxy and cookies, for either transport.
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
/// A provider whose platform cannot do what is set sends nothing: each call fails with kind `.invalidRequest` and a text
/// that names the setting. `CurlConfiguration` has these settings too, and those that are libcurl's own.
public struct TransportConfiguration: Sendable, Hashable {
    /// A file of certificates in PEM that are trusted, in place of the system's; nil, the system's, by default.
    public var certificateAuthorityFile: URL?

    /// The public keys of which a server has to have one; empty, any, by default.
    public var pinnedPublicKeys: Set<PublicKeyPin> = []

    /// The certificate that proves who this client is; nil, none, by default.
    public var clientCertificate: ClientCertificate?

    /// The proxy; ``Proxy/system`` by default.
    public var proxy: Proxy = .system

    /// What becomes of cookies; ``Cookies/ignored`` by default.
    public var cookies: Cookies = .ignored

    /// Makes a configuration with its defaults.
    public init() {}
}

extension TransportConfiguration {
    /// A client's certificate.
    public struct ClientCertificate: Sendable, Hashable {
        /// The certificate's file, in PEM.
        public var certificateFile: URL
        /// The private key's file, in PEM.
        public var keyFile: URL
        /// What the key is encrypted with; nil, the default, for a key that is not.
        public var password: String?

        /// Makes a client certificate of its files.
        public init(certificateFile: URL, keyFile: URL, password: String? = nil) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
            self.password = password
        }
    }

    /// Which proxy requests go through.
    public enum Proxy: Sendable, Hashable {
        /// As the system says: on Linux the environment variables `http_proxy`, `https_proxy`, `all_proxy` and
        /// `no_proxy`, elsewhere the network settings.
        case system
        /// None, whatever the system says.
        case none
        /// This one: `http`, `https`, `socks4`, `socks5` or `socks5h`, with user and password where it wants them.
        ///
        /// It is used for every host: the environment variable `no_proxy` is for the environment's proxies.
        ///
        /// A `URLSession` takes `http` and `socks5` without a user.
        case url(URL)

        /// ``system``, as libcurl calls it.
        public static var environment: Proxy { .system }
    }

    /// What becomes of cookies.
    public enum Cookies: Sendable, Hashable {
        /// None is kept; the header fields are delivered all the same.
        case ignored
        /// Kept in memory as long as the provider lives, and sent back.
        ///
        /// All calls of the provider share the cookies, so two users need two providers. A cache around the provider
        /// stores nothing; see ``ApiResponse/mayDependOnStoredCookies``. A field `Cookie` of the caller follows them.
        ///
        /// libcurl implements RFC 6265 but for the year `70` of a date with two digits, which is 2070: a server removes
        /// a cookie by `Max-Age=0` or by a year of four digits.
        case inMemory
    }
}

// Both hold secrets, and a description alone is not enough: `dump` shows the properties.

extension TransportConfiguration.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The files, without the password.
    public var description: String {
        "\(certificateFile.path), \(keyFile.path)\(password == nil ? "" : ", \(Redactor.replacement)")"
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TransportConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
    /// Where it is, without user and password.
    public var description: String {
        switch self {
        case .system: "environment"
        case .none: "none"
        case .url(let url): Redactor.standard.redact(url)
        }
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
