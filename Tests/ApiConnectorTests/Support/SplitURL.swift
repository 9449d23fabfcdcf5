// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A URL's text taken apart by RFC 3986's rules and nothing of Foundation's or the library's.
struct SplitURL {
    let scheme: String
    /// The text before the port, as it is written.
    let host: String
    let port: String?
    /// The path's segments as they are written; none for an empty path.
    let segments: [String]
    /// Names and values as they are written; nil where there is no question mark.
    let query: [(name: String, value: String?)]?

    /// Nil where the text is no absolute URL with an authority, or holds a byte that no URL may hold.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?[]@!$&'()*+,;=%".utf8)
        guard bytes.allSatisfy(allowed.contains), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        scheme = Self.text(bytes[..<colon])
        guard bytes[colon...].starts(with: "://".utf8) else { return nil }
        let rest = bytes[(colon + 3)...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let behind = rest[authority.endIndex...]
        let path = behind.prefix { $0 != UInt8(ascii: "?") }
        let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let mark = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
            host = Self.text(authority[..<mark])
            port = Self.text(authority[(mark + 1)...])
        } else {
            host = Self.text(authority)
            port = nil
        }
        segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst().map(Self.text)
        guard path.endIndex < behind.endIndex else {
            query = nil
            return
        }
        let items = behind[(path.endIndex + 1)...]
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        query = items.map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let hasValue = name.endIndex < item.endIndex
            return (Self.text(name), hasValue ? Self.text(item[(name.endIndex + 1)...]) : nil)
        }
    }

    /// The unescaped bytes; nil for a broken escape.
    static func decoded(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(Self.text(rest.prefix(2)), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }
}
