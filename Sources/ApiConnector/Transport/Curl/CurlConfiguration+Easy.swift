// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

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
