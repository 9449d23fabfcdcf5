// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// The parts of a server's URL, with variables in braces.
struct ServerURL {
    /// The scheme as the document writes it.
    ///
    /// It may be a variable in braces.
    var scheme: String?
    var host: String?
    var port: String?
    /// The path, which is not percent-encoded.
    var path: String
    /// A sentence about a part that is ignored or changed; nil if all parts are used.
    var flaw: String?

    init(_ url: String) {
        var rest = url[...]
        // A URL that starts with `//` has the scheme of the document's own URL.
        let mark = url.hasPrefix("//") ? rest.firstRange(of: "//") : rest.firstRange(of: "://")
        if let mark {
            let scheme = String(rest[..<mark.lowerBound])
            self.scheme = scheme.isEmpty ? nil : scheme
            if !scheme.isEmpty, !scheme.hasPrefix("{"), !["http", "https"].contains(scheme.lowercased()) {
                flaw = "the scheme \(quoted(scheme)) is not supported; https is used"
            }
            rest = rest[mark.upperBound...]
            let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
            var authority = rest[..<end]
            rest = rest[end...]
            if let at = authority.lastIndex(of: "@") {
                flaw = "the user in the server's URL is left out; pass it as credentials"
                authority = authority[authority.index(after: at)...]
            }
            if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
                host = String(authority[..<colon])
                port = String(authority[authority.index(after: colon)...])
            } else {
                host = String(authority)
            }
            // In an environment, an IPv6 address has no brackets.
            if let name = host, name.hasPrefix("["), name.hasSuffix("]") { host = String(name.dropFirst().dropLast()) }
        }
        let encoded = rest.prefix { $0 != "?" && $0 != "#" }
        if encoded.count < rest.count { flaw = "the query of the server's URL is left out" }
        // The base path of an environment is plain text, in which an encoded slash becomes a real slash.
        if encoded.lowercased().contains("%2f") { flaw = "the encoded slash in the server's URL becomes a plain one" }
        path = encoded.removingPercentEncoding ?? String(encoded)
        while path.hasSuffix("/") { path.removeLast() }
    }
}
