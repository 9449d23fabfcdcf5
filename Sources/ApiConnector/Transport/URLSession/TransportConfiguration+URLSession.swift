// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension TransportConfiguration {
    /// A setting that not every `URLSession` can apply.
    enum SessionSetting: String, CaseIterable {
        case certificateAuthorityFile
        case clientCertificate
        case pinnedPublicKeys
        case proxy
    }

    /// Describes the first setting that this platform's `URLSession` does not support; nil if it supports all.
    var sessionRefusal: String? {
        if certificateAuthorityFile != nil {
            return Self.refusal(.certificateAuthorityFile, "trust a file's certificates")
        }
        if clientCertificate != nil { return Self.refusal(.clientCertificate, "read a client certificate from files") }
        #if canImport(FoundationNetworking)
        if !pinnedPublicKeys.isEmpty { return Self.refusal(.pinnedPublicKeys, "check the server's key") }
        if proxy != .system { return Self.refusal(.proxy, "use a proxy other than the environment's") }
        #else
        if case .url(let url) = proxy, url.sessionProxy == nil {
            return Self.refusal(.proxy, "use a proxy that has credentials or is neither http nor socks5")
        }
        #endif
        return nil
    }

    private static func refusal(_ setting: SessionSetting, _ deed: String) -> String {
        "TransportConfiguration.\(setting.rawValue) is set, and URLSession cannot \(deed) on this platform; "
            + URLSessionSystem.current.remedy(for: setting)
    }
}

extension URLSessionSystem {
    /// The replacement for a setting that the system's `URLSession` does not support, as the end of a sentence.
    func remedy(for setting: TransportConfiguration.SessionSetting) -> String {
        switch (self, setting) {
        case (.linux, _):
            "CurlProvider can, which SystemProvider uses where the package's trait Curl is on"
        case (.apple, .certificateAuthorityFile):
            "evaluate the server's certificate in the challengeHandler of URLSessionProvider(configuration:)"
        case (.apple, .clientCertificate):
            "give its SecIdentity to URLSessionProvider(configuration:clientCertificate:)"
        case (.apple, .pinnedPublicKeys):
            "use URLSessionProvider(configuration:pinnedPublicKeys:)"
        case (.apple, .proxy):
            "set connectionProxyDictionary of a URLSessionConfiguration, answer the proxy in a challengeHandler, and use "
                + "URLSessionProvider(configuration:challengeHandler:)"
        }
    }
}

extension URLSessionConfiguration {
    /// A session configuration with the supported settings of a portable configuration.
    static func transport(_ transport: TransportConfiguration) -> URLSessionConfiguration {
        let configuration = plain
        if transport.cookies == .inMemory {
            configuration.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
            configuration.httpShouldSetCookies = true
        }
        #if !canImport(FoundationNetworking)
        switch transport.proxy {
        case .system: break
        case .none: configuration.connectionProxyDictionary = [:]
        case .url(let url): configuration.connectionProxyDictionary = url.sessionProxy
        }
        #endif
        return configuration
    }
}

#if !canImport(FoundationNetworking)
extension URL {
    /// The session's proxy dictionary for this proxy; nil if a session does not support it.
    fileprivate var sessionProxy: [AnyHashable: Any]? {
        guard let host = host(percentEncoded: false), user == nil else { return nil }
        switch scheme?.lowercased() {
        case "http":
            let port = port ?? 80
            return [
                "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
                "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
            ]
        case "socks5", "socks5h":
            return ["SOCKSEnable": 1, "SOCKSProxy": host, "SOCKSPort": port ?? 1080]
        default:
            return nil
        }
    }
}
#endif
