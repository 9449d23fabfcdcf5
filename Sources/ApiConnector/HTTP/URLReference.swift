// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Resolves a URL reference in a response, such as a `Location` (RFC 3986, section 5).
///
/// Browsers parse references by the WHATWG URL standard. In some references, that standard and RFC 3986 find different
/// hosts. Such a reference is refused. Otherwise a server that checks the host by one standard could send the client to
/// a host that it did not check.
enum URLReference {
    /// The absolute URL; nil if the reference is not a URL, or if its host depends on the parser.
    ///
    /// Bytes that are not allowed in URLs are percent-encoded. Existing escapes stay as they are.
    static func target(of reference: String, from base: URL) -> URL? {
        let reference = separated(reference)
        guard !isAmbiguous(reference),
            let absolute = URL(string: encoded(reference), relativeTo: base)?.absoluteURL
        else { return nil }
        // Without this line, Foundation would turn `mailto:a@b` into `mailto://a@b`.
        guard let origin = HTTPOrigin(absolute) else { return absolute }
        guard isHostName(absolute) else { return nil }
        let target = absolute.standardized
        return HTTPOrigin(target) == origin ? target : nil
    }

    /// The reference with each separator as its own `Character`.
    ///
    /// `:` with a combining mark after it is one `Character`, and a search for `http:` or `//` would not find it.
    private static func separated(_ reference: String) -> String {
        guard reference.contains(where: { !$0.isASCII }) else { return reference }
        return reference.reduce(into: "") { text, character in
            guard let first = character.unicodeScalars.first, ":/\\?#@".unicodeScalars.contains(first) else {
                return text.append(character)
            }
            text.unicodeScalars.append(first)
            for byte in String(character.unicodeScalars.dropFirst()).utf8 {
                text += byte < 0x80 ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Whether a browser and RFC 3986 find different hosts in a reference.
    ///
    /// - `http:name/path` only has a path. A browser reads `name` as a path or as the host, depending on the base.
    /// - `///name`, `http:///name`: the host is empty. A browser uses `name`.
    /// - `/\name`, `\\name`, `//a\@b`: a browser reads the backslash as a slash.
    /// - A tab between two slashes: a browser removes it.
    private static func isAmbiguous(_ reference: String) -> Bool {
        let hierarchy = reference.prefix { $0 != "?" && $0 != "#" }
        let rest = withoutHTTPScheme(hierarchy)
        if rest.startIndex != hierarchy.startIndex, !rest.hasPrefix("//") { return true }
        if rest.contains("\t") || rest.hasPrefix("///") || rest.hasPrefix("//\\") { return true }
        return rest.contains("\\") && authority(rest) != authority(Substring(rest.replacing("\\", with: "/")))
    }

    /// Percent-encodes the characters of a reference that URLs cannot have, except in its host.
    ///
    /// If one character of a path or query is not allowed, Foundation encodes the whole part again, including its
    /// escapes. Foundation does handle the host: it converts a Unicode name to punycode and refuses characters that
    /// hosts cannot have.
    private static func encoded(_ reference: String) -> String {
        let beforeFragment = reference.prefix { $0 != "#" }
        let fragment = reference[beforeFragment.endIndex...]
        let host = host(in: beforeFragment.prefix { $0 != "?" })
        return PercentEncoding.complete(String(beforeFragment[..<host.startIndex]), keeping: .referenceText)
            + String(host)
            + PercentEncoding.complete(String(beforeFragment[host.endIndex...]), keeping: .referenceText)
            + (fragment.isEmpty ? "" : "#")
            + PercentEncoding.complete(String(fragment.dropFirst()), keeping: .referenceText)
    }

    /// The host and the port after scheme and user info; empty if the reference has none.
    private static func host(in hierarchy: Substring) -> Substring {
        let scheme = hierarchy.prefix { $0 != ":" && $0 != "/" }
        let isScheme = scheme.endIndex < hierarchy.endIndex && hierarchy[scheme.endIndex] == ":"
        let rest = isScheme ? hierarchy[scheme.endIndex...].dropFirst() : hierarchy
        guard let authority = authority(rest) else { return hierarchy.prefix(0) }
        return authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
    }

    /// Whether a host's escapes decode to characters that a host can have.
    ///
    /// A transport that decodes `ho%2Fst` or `a%40b` would send the request to another host.
    private static func isHostName(_ url: URL) -> Bool {
        // A host name has no colon; the escape in an IPv6 address belongs to its zone.
        guard let host = url.host(percentEncoded: true), host.contains("%"), !host.contains(":") else { return true }
        guard let name = host.removingPercentEncoding else { return false }
        return name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"#%/:<>?@[\\]^|".utf8.contains($0) }
    }

    private static func withoutHTTPScheme(_ text: Substring) -> Substring {
        for scheme in ["http:", "https:"] where text.prefix(scheme.count).lowercased() == scheme {
            return text.dropFirst(scheme.count)
        }
        return text
    }

    /// The text between two leading slashes and the next slash; nil without two leading slashes.
    private static func authority(_ text: Substring) -> Substring? {
        text.hasPrefix("//") ? text.dropFirst(2).prefix { $0 != "/" } : nil
    }
}

extension ByteSet {
    /// The characters allowed in URLs (RFC 3986, section 2), except the percent sign, the brackets and `#`.
    fileprivate static let referenceText = ByteSet(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?@!$&'()*+,;="
    )
}
