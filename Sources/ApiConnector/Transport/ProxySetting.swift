// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The proxy of a request, as an error names it: never with its user and password.
struct ProxySetting: Equatable {
    /// Where the proxy is set, such as "the configuration's proxy setting" or "the environment variable https_proxy".
    let source: String
    /// The host, and the port if one is set; nil if the text is not a plain proxy URL.
    let place: String?
    let hasCredentials: Bool

    /// - Parameter text: A proxy in libcurl's format: a URL, whose scheme may be missing.
    init(_ text: String, from source: String) {
        self.source = source
        var rest = text[...]
        if let end = rest.range(of: "://") { rest = rest[end.upperBound...] }
        let mark = rest.lastIndex(of: "@")
        let credentials = mark.map { rest[..<$0] } ?? ""
        hasCredentials = mark != nil
        if let mark { rest = rest[rest.index(after: mark)...] }
        if rest.last == "/" { rest = rest.dropLast() }
        place = Self.isPlain(credentials) && Self.isPlace(rest) ? String(rest) : nil
    }

    /// The proxy that libcurl uses for a URL, from the environment; nil if there is none, or if `no_proxy` excludes the
    /// host.
    init?(for url: URL, environment: [String: String]) {
        let isSecure = url.scheme?.lowercased() == "https"
        guard !Self.isExcluded(url.host(percentEncoded: false) ?? "", environment) else { return nil }
        self.init(isSecure: isSecure, environment: environment)
    }

    /// The proxy for a scheme in the environment; nil for none.
    ///
    /// `HTTP_PROXY` is not used, because CGI servers set it to the `Proxy` field of a request. An empty variable counts
    /// as unset.
    init?(isSecure: Bool, environment: [String: String]) {
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        for name in names {
            guard let text = environment[name], !text.isEmpty else { continue }
            self.init(text, from: "the environment variable \(name)")
            return
        }
        return nil
    }

    /// Whether `no_proxy` contains a host, as libcurl reads it: `*`, or names of hosts and domains.
    ///
    /// Networks such as `10.0.0.0/8`, which libcurl 7.86 and later reads, are not supported.
    private static func isExcluded(_ host: String, _ environment: [String: String]) -> Bool {
        let names = ["no_proxy", "NO_PROXY"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let names else { return false }
        if names == "*" { return true }
        func plain(_ name: Substring) -> Substring {
            var name = name
            if name.last == "." { name = name.dropLast() }
            if name.first == "[", name.last == "]" { name = name.dropFirst().dropLast() }
            return name
        }
        let host = plain(host.lowercased()[...])
        return names.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { name in
            let name = plain(name.first == "." ? name.dropFirst() : name)
            return !name.isEmpty && (host == name || host.hasSuffix("." + name))
        }
    }

    /// Whether libcurl's text is about a connection to this proxy.
    fileprivate func isNamed(in words: String) -> Bool {
        guard let place else { return false }
        let colon = place.hasSuffix("]") ? nil : place.lastIndex(of: ":")
        let host = place[..<(colon ?? place.endIndex)].filter { $0 != "[" && $0 != "]" }
        // libcurl's default port of a proxy.
        let port = colon.map { String(place[place.index(after: $0)...]) } ?? "1080"
        // The texts of libcurl before 7.77, before 8.15, before 8.21, and from then on.
        let texts = [" \(host) port \(port): ", " \(host) port \(port) ", " via \(host) ", " over proxy \(host) "]
        return texts.contains { words.contains($0) }
    }

    /// Whether a user and a password have no character that libcurl reads as the end of the host.
    private static func isPlain(_ credentials: Substring) -> Bool {
        credentials.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@[]\\\"<>^`{|}".utf8.contains($0) }
    }

    private static func isPlace(_ text: Substring) -> Bool {
        var host = text
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
            host = text[..<colon]
        }
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return false
        }
        return !host.isEmpty && host.utf8.allSatisfy { ByteSet.plainHost.contains($0) || $0 == UInt8(ascii: ":") }
    }
}

extension TransferErrors {
    /// The error of a transfer that failed at the proxy; nil if libcurl's code is not about the proxy.
    ///
    /// - Parameters:
    ///   - connectStatus: The status of the proxy's response to CONNECT; 0 for none.
    ///   - remedy: How to use no proxy.
    static func proxyError(
        _ code: Int32,
        words: String,
        connectStatus: Int,
        proxy: ProxySetting,
        request: ApiRequest,
        remedy: String = "set the configuration's proxy to .none to use no proxy"
    ) -> ApiConnectorError? {
        proxyFault(code, words: words, connectStatus, proxy, request)?
            .advising("Check \(proxy.source); \(remedy).")
    }

    /// The error of a session's transfer that failed at the environment's proxy; nil for any other failure.
    ///
    /// Foundation passes on libcurl's text, but not its code.
    static func proxyError(ofWords words: String, request: ApiRequest) -> ApiConnectorError? {
        guard let proxy = ProxySetting(for: request.url, environment: ProcessInfo.processInfo.environment) else {
            return nil
        }
        let codes: [(words: String, code: Int32)] = [
            ("Could not resolve proxy", 5), ("Failed to connect to", 7), ("Unsupported proxy", 97), ("SOCKS", 97),
        ]
        return proxyError(
            codes.first { words.contains($0.words) }?.code ?? 56,
            words: words,
            connectStatus: connectStatus(inWords: words),
            proxy: proxy,
            request: request,
            remedy: "unset it to use no proxy"
        )
    }

    /// The status of the proxy's response to CONNECT; 0 for none.
    static func connectStatus(inWords words: String) -> Int {
        for start in ["CONNECT tunnel failed, response ", "Received HTTP code "] {
            guard let range = words.range(of: start) else { continue }
            return Int(words[range.upperBound...].prefix(3)) ?? 0
        }
        return 0
    }

    private static func proxyFault(
        _ code: Int32,
        words: String,
        _ connectStatus: Int,
        _ proxy: ProxySetting,
        _ request: ApiRequest
    ) -> ApiConnectorError? {
        guard let place = proxy.place else {
            // libcurl took another part of the setting for the host. Its text names this host, which may be a part of
            // the password, so the error does not contain libcurl's text.
            guard [3, 4, 5, 7, 28, 97].contains(code) else { return nil }
            let detail =
                "the proxy that \(proxy.source) sets is not a URL such as http://user:password@host:port; "
                + "percent-encode every reserved character in its user and its password"
            // The codes 7 and 28 may be about the server, not the proxy: libcurl connects directly to a server that
            // no_proxy excludes. So an error for these codes is not permanent.
            return [7, 28].contains(code)
                ? ApiConnectorError(.cannotConnect, detail, request: request) : refusal(detail, request)
        }
        let name = "the proxy \(place), set by \(proxy.source),"
        if connectStatus != 0, connectStatus / 100 != 2 {
            var detail =
                "\(name) refused to connect to the server: it responded to CONNECT with the status \(connectStatus)"
            if connectStatus == 407 {
                detail +=
                    proxy.hasCredentials
                    ? "; it rejected the user and the password that are set there"
                    : "; it requires a user and a password, but none are set there"
            }
            return refusal(detail, request)
        }
        let said = ApiConnectorError.sentence("libcurl says: \(explained(words)) (code \(code))")
        if code == 97 || words.hasPrefix("Unsupported proxy") {
            return refusal("\(name) cannot be used or refused to connect to the server; \(said)", request)
        }
        if words.hasPrefix("Proxy CONNECT aborted") {
            let detail = "\(name) closed the connection before the tunnel to the server was open; \(said)"
            return ApiConnectorError(.cannotConnect, detail, request: request)
        }
        if code == 5 {
            return ApiConnectorError(.nameNotResolved, "\(name) has no address; \(said)", request: request)
        }
        // A server that no_proxy excludes fails with this code, too.
        if code == 7, proxy.isNamed(in: words) {
            return ApiConnectorError(.cannotConnect, "\(name) cannot be reached; \(said)", request: request)
        }
        return nil
    }

    private static func refusal(_ detail: String, _ request: ApiRequest) -> ApiConnectorError {
        var error = ApiConnectorError(.cannotConnect, detail, request: request)
        error.isPermanent = true
        return error
    }
}
