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
    /// its neighbors on the connection by 20 ms (measured; over HTTP/1.1 1.9 MB and 0.1 ms).
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
    public var certificateAuthorityFile: URL? {
        get { transport.certificateAuthorityFile }
        set { transport.certificateAuthorityFile = newValue }
    }

    /// The public keys of which a server has to have one; empty, any, by default.
    public var pinnedPublicKeys: Set<PublicKeyPin> {
        get { transport.pinnedPublicKeys }
        set { transport.pinnedPublicKeys = newValue }
    }

    /// The certificate that proves who this client is; nil, none, by default.
    public var clientCertificate: TransportConfiguration.ClientCertificate? {
        get { transport.clientCertificate }
        set { transport.clientCertificate = newValue }
    }

    /// The proxy; that of the environment variables by default.
    public var proxy: TransportConfiguration.Proxy {
        get { transport.proxy }
        set { transport.proxy = newValue }
    }

    /// What becomes of compressed bodies; ``Decompression/standard`` by default.
    public var decompression: Decompression = .standard

    /// What becomes of cookies; none is kept by default.
    public var cookies: TransportConfiguration.Cookies {
        get { transport.cookies }
        set { transport.cookies = newValue }
    }

    /// How much of a streamed body is read ahead of its consumer, in bytes; 1 MiB by default.
    ///
    /// libcurl itself reads up to 256 KiB at once. For a compressed body, the window counts compressed bytes. The provider
    /// decompresses them when the consumer asks for more, 64 KiB at a time.
    public var streamWindowByteCount = 1 << 20

    /// Trust, pins, client certificate, proxy and cookies, as either transport has them.
    public var transport: TransportConfiguration

    /// Makes a configuration with its defaults.
    public init() {
        transport = TransportConfiguration()
    }

    /// Makes a configuration of a portable one, with libcurl's own settings at their defaults.
    public init(_ transport: TransportConfiguration) {
        self.transport = transport
    }
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
}

#endif
