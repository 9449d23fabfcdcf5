// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The configuration of a ``CurlProvider``; all properties have defaults.
public struct CurlConfiguration: Sendable, Hashable {
    /// The maximum number of connections; nil, no limit, by default.
    ///
    /// Further requests wait in order. An open stream over HTTP/1.1 occupies a connection. A download counts as running
    /// until its file is closed, so the limit also applies to the number of open files. A loop over a download must not
    /// wait for a call that waits for its place. A file to upload is opened when its request no longer waits.
    public var maximumConnectionCount: Int?

    /// The maximum number of connections to one host; nil, no limit, by default.
    public var maximumConnectionCountPerHost: Int?

    /// The maximum age at which an idle connection takes a new request; 10 minutes by default, nil for no limit.
    ///
    /// A new connection looks up the host's name again, so it notices a DNS change. libcurl 7.80 or later checks the
    /// age, in whole seconds, when a request is about to use an idle connection. An HTTP/2 connection that always has a
    /// request in flight is never idle, so the limit does not apply to it.
    public var maximumConnectionLifetime: Duration? = .seconds(600)

    /// The HTTP version; ``HTTPVersion/automatic`` by default.
    ///
    /// If a server requires HTTP/1.1 for a request over HTTP/2 (RFC 9113, section 7, HTTP_1_1_REQUIRED), the provider's
    /// next requests to it over TLS use HTTP/1.1. The request itself is sent again over HTTP/1.1 if its method is
    /// idempotent, or if the server has reported that it did not process it; otherwise it fails.
    public var httpVersion: HTTPVersion = .automatic

    /// Whether calls with a streamed response may share an HTTP/2 connection; false by default, which uses HTTP/1.1.
    ///
    /// Downloads are such calls, too. If false, HTTP/2 over TLS is used for them only if the server refuses HTTP/1.1 in
    /// the handshake. The handshake does not offer both, because most servers then choose HTTP/2.
    ///
    /// With libcurl 7.88, a paused HTTP/2 stream buffers up to 32 MiB, regardless of ``streamWindowByteCount``, and
    /// delays other streams on the connection by 20 ms (measured; over HTTP/1.1, the buffer has 1.9 MB and the delay is
    /// 0.1 ms).
    public var streamsOverHTTP2 = false

    /// The time limit for name lookup, connecting and the TLS handshake together; 30 seconds by default.
    ///
    /// When it is exceeded, the request fails with kind `.cannotConnect`. libcurl checks it before it reads from the
    /// socket: a process that was suspended for longer fails a request that was connecting.
    public var connectTimeout: Duration = .seconds(30)

    /// A PEM file of certificates to trust instead of the system's certificates; nil by default.
    ///
    /// Each new connection checks the file's date, so that the provider reads a renewed file. libcurl caches the
    /// certificates until the file changes.
    ///
    /// The system's certificates are in libcurl's default file or, if there is none, in the distribution's usual file.
    /// If the provider finds such a file, it does not search a folder of single certificates.
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

    /// The pinned keys, of which a server must have one; empty by default, which accepts any key.
    public var pinnedPublicKeys: Set<PublicKeyPin> {
        get { transport.pinnedPublicKeys }
        set { transport.pinnedPublicKeys = newValue }
    }

    /// The certificate that authenticates this client; nil by default.
    public var clientCertificate: TransportConfiguration.ClientCertificate? {
        get { transport.clientCertificate }
        set { transport.clientCertificate = newValue }
    }

    /// The proxy; that of the environment variables by default.
    public var proxy: TransportConfiguration.Proxy {
        get { transport.proxy }
        set { transport.proxy = newValue }
    }

    /// How compressed bodies are handled; ``Decompression/standard`` by default.
    public var decompression: Decompression = .standard

    /// How cookies are handled; none are stored by default.
    public var cookies: TransportConfiguration.Cookies {
        get { transport.cookies }
        set { transport.cookies = newValue }
    }

    /// How many bytes of a streamed body are read ahead of the reader; 1 MiB by default.
    ///
    /// libcurl itself reads up to 256 KiB at once. For a compressed body, the window counts compressed bytes. The
    /// provider decompresses them when the reader asks for more, 64 KiB at a time.
    public var streamWindowByteCount = 1 << 20

    /// Whether the provider measures ``TransportTimes``; true by default.
    ///
    /// If false, it reads neither a clock nor libcurl's measurements for them. Only benchmarks use this, to measure the
    /// cost.
    @_spi(Benchmarks) public var measuresTimes = true

    /// The settings that both transports have: trust, pins, client certificate, proxy and cookies.
    public var transport: TransportConfiguration

    /// Makes a configuration with its defaults.
    public init() {
        transport = TransportConfiguration()
    }

    /// Makes a configuration from a portable one, with libcurl's own settings at their defaults.
    public init(_ transport: TransportConfiguration) {
        self.transport = transport
    }
}

extension CurlConfiguration {
    /// An HTTP version.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 over TLS if the server supports it, with many requests per connection; otherwise HTTP/1.1.
        ///
        /// HTTP/2 needs libcurl 7.88, or 8.3 or later. All other versions use HTTP/1.1, because they may report a
        /// truncated body as a success, or wait without end, after the server has violated HTTP/2.
        ///
        /// libcurl 7.88.1 may lose the end of a body of more than 512 KiB, if other requests of the connection wait for
        /// their responses. The call then ends at its stall timeout, or with the next response.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 with prior knowledge, also without TLS; for a server that is known to support it.
        ///
        /// Calls fail with kind `.invalidRequest` over a libcurl that is neither 7.88 nor 8.3 or later.
        case http2PriorKnowledge
    }

    /// How the provider treats compressed bodies.
    ///
    /// It decodes gzip, deflate, br and zstd if this system has the coding's library: `libz.so.1`, `libbrotlidec.so.1`
    /// or `libzstd.so.1`. A request that sets `Accept-Encoding` keeps its value, and the provider also decodes its
    /// response. A request that sets `Range` but not `Accept-Encoding` asks for `identity`.
    ///
    /// - A truncated compressed body fails with kind `.connectionLost`.
    /// - A body with invalid data, an unknown coding or more than one coding fails with kind `.malformedResponse`.
    /// - A gzip body may have several members. A zstd body may have several frames, each with a window of up to 8 MiB
    ///   (RFC 9659).
    /// - The provider ignores bytes after the end of gzip, deflate and br data. A single byte 0x1F after gzip data
    ///   counts as the beginning of another member, so the body counts as truncated.
    public enum Decompression: Sendable, Hashable {
        /// Requests compression and decompresses bodies up to a limit; a larger body fails with kind `.bodyTooLarge`.
        ///
        /// A body of up to 1 MiB never fails because of its ratio.
        ///
        /// - Parameters:
        ///   - ratio: The maximum number of decompressed bytes per received byte.
        ///   - byteCount: The maximum number of decompressed bytes.
        case limited(ratio: Int, byteCount: Int)
        /// Does not request compression, and delivers bodies unchanged.
        case off

        /// A ratio of at most 100, and at most 1 GiB.
        public static let standard = Decompression.limited(ratio: 100, byteCount: 1 << 30)
    }
}

// MARK: Options of libcurl

extension CurlConfiguration {
    /// Sets the options that apply to every transfer, on a new handle.
    func apply(to easy: CurlEasy) {
        easy.set(CCURLOPT_NOSIGNAL, 1)
        easy.set(CCURLOPT_PATH_AS_IS, 1)
        easy.set(CCURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        easy.set(CCURLOPT_QUICK_EXIT, 1)
        easy.set(CCURLOPT_HTTP_VERSION, httpVersion.number(isStreamed: false))
        let (seconds, attoseconds) = connectTimeout.components
        let milliseconds = Double(seconds) * 1e3 + Double(attoseconds) / 1e15
        easy.set(CCURLOPT_CONNECTTIMEOUT_MS, Int(min(max(milliseconds.rounded(.up), 1), 1e9)))
        applyLifetime(to: easy)
        applySecurity(to: easy)
        switch proxy {
        case .system: break
        case .none: easy.set(CCURLOPT_PROXY, "")
        case .url(let url):
            easy.set(CCURLOPT_PROXY, url.absoluteString)
            // The environment's no_proxy only applies to the environment's proxies.
            easy.set(CCURLOPT_NOPROXY, "")
        }
        if cookies == .inMemory { easy.set(CCURLOPT_COOKIEFILE, "") }
    }

    /// Sets the maximum lifetime of a connection; libcurl before 7.80 ignores it.
    private func applyLifetime(to easy: CurlEasy) {
        guard let lifetime = maximumConnectionLifetime else { return }
        let (seconds, attoseconds) = lifetime.components
        let wholeSeconds = seconds.addingReportingOverflow(attoseconds > 0 ? 1 : 0).partialValue
        // For libcurl, 0 means no limit.
        easy.set(CCURLOPT_MAXLIFETIME_CONN, Int(clamping: min(max(wholeSeconds, 1), 1_000_000_000)))
    }

    private func applySecurity(to easy: CurlEasy) {
        if let path = certificateAuthorityFile?.path {
            easy.set(CCURLOPT_CAINFO, path)
            easy.set(CCURLOPT_CAPATH, CurlAuthorities.addsFolder ? CurlAuthorities.noFolder : nil)
        } else if let path = CurlAuthorities.systemPath {
            easy.set(CCURLOPT_CAINFO, path)
            easy.set(CCURLOPT_CAPATH, nil)
        }
        if !pinnedPublicKeys.isEmpty {
            easy.set(CCURLOPT_PINNEDPUBLICKEY, pinnedPublicKeys.map(\.description).joined(separator: ";"))
        }
        if let client = clientCertificate {
            easy.set(CCURLOPT_SSLCERT, client.certificateFile.path)
            easy.set(CCURLOPT_SSLKEY, client.keyFile.path)
            if let password = client.password { easy.set(CCURLOPT_KEYPASSWD, password) }
        }
    }
}

extension CurlConfiguration.HTTPVersion {
    /// The version to use, depending on whether libcurl may use HTTP/2.
    func supported(hasHTTP2: Bool) -> Self {
        self == .automatic && !hasHTTP2 ? .http1 : self
    }

    func mayMultiplex(isSecure: Bool) -> Bool {
        switch self {
        case .automatic: isSecure
        case .http1: false
        case .http2PriorKnowledge: true
        }
    }

    func number(isStreamed: Bool) -> Int {
        switch self {
        case .http1: CCURL_HTTP_VERSION_1_1
        case .http2PriorKnowledge: CCURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .automatic: isStreamed ? CCURL_HTTP_VERSION_1_1 : CCURL_HTTP_VERSION_2TLS
        }
    }
}

#endif
