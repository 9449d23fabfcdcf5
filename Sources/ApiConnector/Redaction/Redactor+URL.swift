// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// Redacts a URL: user info, the values of secret items in the query and the fragment, and tokens in the path.
    ///
    /// It recognizes a token in the path by its form:
    ///
    /// - a JSON web token,
    /// - a bot token (`bot123456:AAE…`),
    /// - at least 32 hexadecimal digits, or
    /// - at least 32 random characters of base64.
    ///
    /// A port that is the default of the scheme is left out.
    public func redact(_ url: URL) -> String {
        redact(urlText: url.textWithoutDefaultPort)
    }

    /// Redacts a text that should be a URL, absolute or relative; any text is allowed.
    func redact(urlText text: String) -> String {
        let redacted = URLPart.parts(of: Array(text.utf8)).flatMap { part in
            redact(Array(part.bytes), in: part.place) ?? Array(part.bytes)
        }
        return String(decoding: redacted, as: UTF8.self)
    }
}

extension URL {
    /// The URL without a port that is the default of its scheme: the same URL as most people write it.
    var textWithoutDefaultPort: String {
        var text = absoluteString
        guard let port, let scheme = scheme.flatMap({ HTTPScheme(rawValue: $0.lowercased()) }),
            port == scheme.defaultPort, let start = text.range(of: "://")?.upperBound
        else { return text }
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let suffix = ":\(port)"
        guard text[start..<end].hasSuffix(suffix) else { return text }
        text.removeSubrange(text.index(end, offsetBy: -suffix.count)..<end)
        return text
    }
}

/// A part of a URL with its kind of text; the kind decides which characters end a value.
struct URLPart {
    let bytes: ArraySlice<UInt8>
    let place: SecretText.Place

    /// The part before the query, the query, and the fragment.
    static func parts(of bytes: [UInt8]) -> [URLPart] {
        let fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        let queryStart = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        return [
            URLPart(bytes: bytes[..<queryStart], place: .path),
            URLPart(bytes: bytes[queryStart..<fragmentStart], place: .form),
            URLPart(bytes: bytes[fragmentStart...], place: .form),
        ]
    }
}
