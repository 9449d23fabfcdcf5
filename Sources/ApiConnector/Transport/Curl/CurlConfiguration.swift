// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

/// How a ``CurlProvider`` connects: a value, every part of which has a default.
public struct CurlConfiguration: Sendable, Hashable {
    /// The most connections at a time; nil, no limit, by default.
    ///
    /// Requests beyond it wait, in order. An open stream over HTTP/1.1 holds one.
    public var maximumConnectionCount: Int?

    /// The most connections at a time to one host; nil, no limit, by default.
    public var maximumConnectionCountPerHost: Int?

    /// The longest time that a connection takes new requests; 10 minutes by default, nil for no limit.
    ///
    /// A new connection looks the host's name up again, so that a change of DNS is seen. libcurl 7.80 or later checks
    /// the age, in whole seconds, when a request is about to use an idle connection. An HTTP/2 connection that always
    /// has a request under way is never idle and stays.
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
    /// The file's date is checked when a connection opens, so that a renewed file is read. The system's certificates are
    /// libcurl's default file or, where it has none, the usual one of the distribution; a folder of single certificates is
    /// then not searched. libcurl keeps what it has read. Before 7.87, with another TLS library than OpenSSL, and on a
    /// system with a folder only, libcurl's own defaults hold, and each new connection reads the certificates again
    /// (23 ms of processor time for Debian's). The environment (`SSL_CERT_FILE`, `SSL_CERT_DIR`) is not read.
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
    /// libcurl itself takes up to 256 KiB at once. Of a compressed body these are the compressed bytes; they are
    /// decompressed when the consumer asks for more, 64 KiB at a time.
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

    /// What becomes of compressed bodies.
    ///
    /// The codings are gzip, deflate, br and zstd, each where this system has its library: `libz.so.1`,
    /// `libbrotlidec.so.1` and `libzstd.so.1`. A request with an `Accept-Encoding` of its own asks for that, and what
    /// comes is decompressed all the same. A request with a `Range` asks for `identity`.
    ///
    /// - A body that ends before its compressed data does fails with kind `.connectionLost`.
    /// - A body that is no valid data, that has an unknown coding or more than one fails with kind
    ///   `.malformedResponse`.
    /// - gzip may have several members, zstd several frames, with a window of up to 8 MiB (RFC 9659). What follows the
    ///   end of gzip, deflate and br data is ignored.
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
        /// All calls of the provider share them, so two users need two providers. A cache around the provider stores
        /// nothing: see ``ApiResponse/mayDependOnStoredCookies``.
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
