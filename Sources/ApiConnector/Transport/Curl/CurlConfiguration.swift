// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// How a ``CurlProvider`` connects: a value, every part of which has a default.
public struct CurlConfiguration: Sendable, Hashable {
    /// The most connections at a time; nil, no limit, by default.
    ///
    /// Further requests wait, in order. An open stream over HTTP/1.1 holds one connection.
    public var maximumConnectionCount: Int?

    /// The most connections at a time to one host; nil, no limit, by default.
    public var maximumConnectionCountPerHost: Int?

    /// The maximum age at which an idle connection takes a new request; 10 minutes by default, nil for no limit.
    ///
    /// A new connection looks up the host's name again, so it notices a DNS change. libcurl 7.80 or later checks the
    /// age, in whole seconds, when a request is about to use an idle connection. An HTTP/2 connection that always has a
    /// request in flight is never idle, so the limit does not apply to it.
    public var maximumConnectionLifetime: Duration? = .seconds(600)

    /// Which version of HTTP is spoken; ``HTTPVersion/automatic`` by default.
    public var httpVersion: HTTPVersion = .automatic

    /// Whether calls with a streamed response may share an HTTP/2 connection; false by default: they take HTTP/1.1.
    ///
    /// A paused HTTP/2 stream keeps up to 32 MiB with libcurl 7.88, whatever ``streamWindowByteCount`` says, and delays
    /// its neighbours on the connection by 20 ms (measured; over HTTP/1.1 1.9 MB and 0.1 ms).
    public var streamsOverHTTP2 = false

    /// The longest time for looking up the name, connecting and the TLS handshake together; 30 seconds by default.
    ///
    /// Past it the request fails with kind `.cannotConnect`.
    public var connectTimeout: Duration = .seconds(30)

    /// A file of certificates in PEM that are trusted, in place of the system's; nil, the system's, by default.
    ///
    /// Each new connection checks the file's date, so that the provider reads a renewed file. libcurl keeps the
    /// certificates in memory until the file changes.
    ///
    /// The system's certificates are libcurl's default file or, if there is none, the distribution's usual file. The
    /// provider then searches no folder of single certificates.
    ///
    /// In these cases libcurl's own defaults apply, and each new connection reads the certificates again (23 ms of
    /// processor time for Debian's):
    ///
    /// - libcurl is older than 7.87.
    /// - libcurl uses a TLS library other than OpenSSL.
    /// - The system has only a folder of certificates.
    ///
    /// The provider ignores the environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    public var certificateAuthorityFile: URL?

    /// The public keys of which a server has to have one; empty, any, by default.
    public var pinnedPublicKeys: Set<PublicKeyPin> = []

    /// The certificate that proves who this client is; nil, none, by default.
    public var clientCertificate: ClientCertificate?

    /// The proxy; ``Proxy/environment`` by default.
    public var proxy: Proxy = .environment

    /// What becomes of compressed bodies; ``Decompression/standard`` by default.
    public var decompression: Decompression = .standard

    /// What becomes of cookies; ``Cookies/ignored`` by default.
    public var cookies: Cookies = .ignored

    /// How much of a streamed body is read ahead of its consumer, in bytes; 1 MiB by default.
    ///
    /// libcurl itself reads up to 256 KiB at once. For a compressed body, the window counts compressed bytes. The provider
    /// decompresses them when the consumer asks for more, 64 KiB at a time.
    public var streamWindowByteCount = 1 << 20

    /// Makes a configuration with its defaults.
    public init() {}
}

extension CurlConfiguration {
    /// A version of HTTP.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 over TLS where the server has it, many requests on one connection; HTTP/1.1 elsewhere.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 at once, also without TLS; for a server that is known to speak it.
        case http2PriorKnowledge
    }

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
        /// As the environment says: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
        case environment
        /// None, whatever the environment says.
        case none
        /// This one: `http`, `https`, `socks4`, `socks5` or `socks5h`, with user and password where it wants them.
        case url(URL)
    }

    /// How the provider treats compressed bodies.
    ///
    /// It decodes gzip, deflate, br and zstd if this system has the coding's library: `libz.so.1`, `libbrotlidec.so.1`
    /// or `libzstd.so.1`. A request that sets `Accept-Encoding` keeps its value, and the provider decodes the body all
    /// the same. A request that sets `Range` but not `Accept-Encoding` asks for `identity`.
    ///
    /// - A truncated compressed body fails with kind `.connectionLost`.
    /// - A body with invalid data, an unknown coding or more than one coding fails with kind `.malformedResponse`.
    /// - A gzip body may have several members. A zstd body may have several frames, each with a window of up to 8 MiB
    ///   (RFC 9659).
    /// - The provider ignores bytes after the end of gzip, deflate and br data.
    public enum Decompression: Sendable, Hashable {
        /// Compression is asked for, and bodies are decompressed up to a limit; past it the call fails with kind
        /// `.bodyTooLarge`. A body of up to 1 MiB is never refused for its ratio.
        ///
        /// - Parameters:
        ///   - ratio: The most decompressed bytes for each byte received.
        ///   - byteCount: The most decompressed bytes.
        case limited(ratio: Int, byteCount: Int)
        /// Compression is not asked for, and bodies are delivered as they came.
        case off

        /// At most 100 to 1, and 1 GiB.
        public static let standard = Decompression.limited(ratio: 100, byteCount: 1 << 30)
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

extension CurlConfiguration.ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The files, without the password.
    public var description: String {
        "\(certificateFile.path), \(keyFile.path)\(password == nil ? "" : ", \(Redactor.replacement)")"
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CurlConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
    /// Where it is, without user and password.
    public var description: String {
        switch self {
        case .environment: "environment"
        case .none: "none"
        case .url(let url): Redactor.standard.redact(url)
        }
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

#endif
