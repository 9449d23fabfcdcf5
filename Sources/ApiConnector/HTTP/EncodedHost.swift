// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A host as it is written in a URL.
struct EncodedHost {
    let text: String

    /// Whether the host is a plain host name or address, which a request can be sent to.
    let isPlain: Bool

    init(_ host: String) {
        let plain =
            ByteSet.plainHost.containsAll(of: host) && !host.isEmpty
            ? host : Self.bracketedIPv6(host) ?? Self.punycode(host)
        isPlain = plain != nil
        text = plain ?? PercentEncoding.encode(host, keeping: .plainHost)
    }

    /// `[::1]` for `::1` or `[::1]`; nil if the text is not an IPv6 address (RFC 3986, section 3.2.2).
    private static func bracketedIPv6(_ host: String) -> String? {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? String(host.dropFirst().dropLast()) : host
        guard bare.utf8.contains(UInt8(ascii: ":")), bare.utf8.allSatisfy({ $0 != 0 }) else { return nil }
        var address = in6_addr()
        return inet_pton(AF_INET6, bare, &address) == 1 ? "[\(bare)]" : nil
    }

    /// The ASCII form of a Unicode name, by Foundation's IDNA (UTS 46); nil if it has none.
    ///
    /// The result is also nil if the Unicode name or its ASCII form contains an ASCII character that host names cannot
    /// have. For example, IDNA converts U+FF0F, the full-width slash, to a slash, which would end the host.
    private static func punycode(_ host: String) -> String? {
        let isUnicodeName = host.utf8.allSatisfy { $0 >= 0x80 || ByteSet.plainHost.contains($0) }
        guard isUnicodeName, let url = URL(string: "http://\(host)/") else { return nil }
        let name = url.absoluteString.dropFirst("http://".count).dropLast()
        return !name.isEmpty && ByteSet.plainHost.containsAll(of: String(name)) ? String(name) : nil
    }
}
