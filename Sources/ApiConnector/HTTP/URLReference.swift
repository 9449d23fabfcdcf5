// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A URL reference from a response, such as a `Location`, resolved by RFC 3986, section 5.
///
/// Browsers read some references by the WHATWG's URL standard and find another host there. Such a reference has no target:
/// a server that checks it in one way would send the client to a host that it did not check.
enum URLReference {
    /// The absolute URL; nil for a reference that is not a URL, or whose host depends on who reads it.
    ///
    /// Bytes that no URL may have are percent-encoded. Escapes stay as they are.
    static func target(of reference: String, from base: URL) -> URL? {
        let reference = separated(reference)
        guard !isAmbiguous(reference),
            let absolute = URL(string: encoded(reference), relativeTo: base)?.absoluteURL
        else { return nil }
        // Foundation makes `mailto://a@b` of `mailto:a@b` here.
        guard let origin = HTTPOrigin(absolute) else { return absolute }
        guard isHostName(absolute) else { return nil }
        let target = absolute.standardized
        return HTTPOrigin(target) == origin ? target : nil
    }

    /// A reference in which each separator is a character.
    ///
    /// `:` and a combining mark behind it are one character, and neither `http:` nor `//` is found with it.
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

    /// Whether a browser finds another host in a reference than RFC 3986 does.
    ///
    /// - `http:name/path` has a path alone. A browser takes `name` for a path or for the host; the base decides.
    /// - `///name`, `http:///name`: the host is empty. A browser takes `name`.
    /// - `/\name`, `\\name`, `//a\@b`: a browser takes the backslash for a slash.
    /// - A tab between two slashes: a browser leaves it out.
    private static func isAmbiguous(_ reference: String) -> Bool {
        let hierarchy = reference.prefix { $0 != "?" && $0 != "#" }
        let rest = withoutHTTPScheme(hierarchy)
        if rest.startIndex != hierarchy.startIndex, !rest.hasPrefix("//") { return true }
        if rest.contains("\t") || rest.hasPrefix("///") || rest.hasPrefix("//\\") { return true }
        return rest.contains("\\") && authority(rest) != authority(Substring(rest.replacing("\\", with: "/")))
    }

    /// A reference in the characters of URLs, apart from its host.
    ///
    /// Foundation encodes all of a path or query again, its escapes too, if one character is not allowed. The host stays
    /// for Foundation: it makes punycode of a Unicode name, and refuses a character that no host has.
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

    /// The host and the port behind the scheme and the user info; empty where a reference has none.
    private static func host(in hierarchy: Substring) -> Substring {
        let scheme = hierarchy.prefix { $0 != ":" && $0 != "/" }
        let isScheme = scheme.endIndex < hierarchy.endIndex && hierarchy[scheme.endIndex] == ":"
        let rest = isScheme ? hierarchy[scheme.endIndex...].dropFirst() : hierarchy
        guard let authority = authority(rest) else { return hierarchy.prefix(0) }
        return authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
    }

    /// Whether the escapes of a host stand for characters that a host may have.
    ///
    /// A transport that decodes `ho%2Fst` or `a%40b` sends the request elsewhere.
    private static func isHostName(_ url: URL) -> Bool {
        // A name has no colon; the escape in an address is its zone's.
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

    /// What stands between two slashes at the beginning and the next one; nil without two slashes.
    private static func authority(_ text: Substring) -> Substring? {
        text.hasPrefix("//") ? text.dropFirst(2).prefix { $0 != "/" } : nil
    }
}

extension ByteSet {
    /// The characters of URLs (RFC 3986, section 2) without the percent sign, the brackets and `#`.
    fileprivate static let referenceText = ByteSet(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?@!$&'()*+,;="
    )
}
