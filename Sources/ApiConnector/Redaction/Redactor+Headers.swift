// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// Redacts header fields: the values of secret fields, and secrets within other values.
    public func redact(_ headers: HTTPHeaders) -> HTTPHeaders {
        headers.reduce(into: HTTPHeaders()) { $0.append($1.name, redact($1.value, ofHeader: $1.name)) }
    }

    /// Redacts the value of a header field.
    ///
    /// - A secret value is replaced. The scheme of a credential stays.
    /// - In `Set-Cookie`, the cookie's name and attributes stay.
    /// - A challenge (`WWW-Authenticate`) stays unchanged.
    /// - A URL is redacted as a URL, and any other value as text.
    public func redact(_ value: String, ofHeader name: HTTPHeaders.Name) -> String {
        let value = redactValues(in: value)
        switch name {
        case .wwwAuthenticate, "Proxy-Authenticate":
            return value
        case .setCookie:
            return SetCookie.fields(in: value).map(redactedCookie).joined(separator: ", ")
        case .location, "Content-Location", "Referer":
            return redact(urlText: redact(text: value))
        case _ where isSecret(header: name):
            return redactedCredential(value)
        default:
            return redact(text: value)
        }
    }

    /// Whether a header field is a credential: by its name, or by the form of its value, such as `Bearer …` or a URL with
    /// a secret.
    ///
    /// Redirects and caches agree on it.
    func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        isSecret(header: field.name) || CredentialForm.fits(field.value) || isURLWithSecret(field.value)
    }

    private func isURLWithSecret(_ value: String) -> Bool {
        guard value.utf8.starts(with: "http".utf8), value.contains(where: { $0 == "?" || $0 == "@" }),
            let url = URL(string: value), url.scheme != nil
        else { return false }
        return url.user(percentEncoded: true) != nil
            || (url.query(percentEncoded: true) ?? "").split(separator: "&").contains { isSecret(encodedItem: $0) }
    }

    /// Keeps only a known scheme, as in `Bearer REDACTED`; an unknown first word may be the secret itself.
    private func redactedCredential(_ value: String) -> String {
        guard !value.isEmpty else { return value }
        return String(decoding: Array(value.utf8.prefix(Self.credentialStart(in: value))), as: UTF8.self)
            + Self.replacement
    }

    /// The offset in the value's UTF-8 where the credential begins: after a known scheme and the spaces and tabs that
    /// follow it.
    ///
    /// Servers accept more than one.
    static func credentialStart(in value: String) -> Int {
        let scheme = value.utf8.prefix { !SecretText.isBlank($0) }
        guard scheme.endIndex < value.endIndex, schemes.contains(Substring(scheme).lowercased()) else { return 0 }
        let blanks = value.utf8[scheme.endIndex...].prefix(while: SecretText.isBlank)
        return scheme.count + blanks.count
    }

    static let schemes: Set<String> = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate",
        "ntlm", "oauth", "scram-sha-1", "scram-sha-256", "sharedkey", "token", "vapid",
    ]

    private func redactedCookie(_ cookie: String) -> String {
        let parts = cookie.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return Self.replacement }
        let name = pair[..<equals].trimmingCharacters(in: .whitespaces)
        let value = pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        // If nothing but equal signs follows the name, the text may be base64 with padding, not a cookie.
        guard !name.isEmpty, ByteSet.token.containsAll(of: name), value.contains(where: { $0 != "=" }) else {
            return Self.replacement
        }
        let attributes = parts.dropFirst().map { isCookieAttribute($0) ? String($0) : " " + Self.replacement }
        return (["\(name)=\(Self.replacement)"] + attributes).joined(separator: ";")
    }

    /// Whether the part is a known attribute, rather than the rest of a quoted value.
    func isCookieAttribute(_ part: Substring) -> Bool {
        let name = part.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased()
        return part.allSatisfy { $0 == " " } || Self.cookieAttributes.contains(name)
    }

    private static let cookieAttributes: Set<String> = [
        "domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure", "version",
    ]
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The field as a header line, with a secret value replaced.
    public var description: String {
        "\(name): \(Redactor.standard.redact(value, ofHeader: name))"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields as header lines, with the values of secret fields replaced.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }
}

/// Tells whether a whole value has the form of a credential, regardless of its name.
///
/// A text is redacted by more rules, because too much redaction does no harm there. This decides which requests a cache
/// stores and what crosses origins, so `basic income`, `session:desc` and a base64 cursor are not credentials.
enum CredentialForm {
    /// The minimum length of a word after a scheme; with a digit, 6 characters are enough.
    private static let minimumWordCount = 16
    /// RFC 9110, section 11.2.
    static let token68 = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=")

    /// Whether a value is `Bearer abc123`, `Basic` with a base64 pair, `Digest username=…`, a JSON web token or the like.
    static func fits(_ value: String) -> Bool {
        // A query item may have blanks at its ends, which are not part of the credential.
        let ends = (value.utf8.first, value.utf8.last)
        if ends.0.map(SecretText.isBlank) == true || ends.1.map(SecretText.isBlank) == true {
            return fits(value.trimmingCharacters(in: .whitespaces))
        }
        let start = Redactor.credentialStart(in: value)
        guard start > 0 else { return isJSONWebToken(value) }
        let rest = Substring(value.utf8.dropFirst(start))
        // The parameters of a scheme, as in `AWS4-HMAC-SHA256 Credential=a, Signature=b`.
        let name = rest.prefix { $0 != "=" }
        if !name.isEmpty, ByteSet.token.containsAll(of: String(name)), name.endIndex < rest.endIndex,
            rest.dropFirst(name.count).contains(where: { $0 != "=" })
        {
            return true
        }
        guard token68.containsAll(of: String(rest)) else { return false }
        if value.prefix(5).lowercased() == "basic" { return isPair(rest) }
        return rest.utf8.count >= minimumWordCount
            || rest.utf8.count >= 6 && rest.utf8.contains(where: ByteSet.decimalDigits.contains)
    }

    /// RFC 7617, section 2: a user and a password with a colon between them, in base64; clients often omit the padding.
    private static func isPair(_ text: Substring) -> Bool {
        let digits = text.prefix { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: digits + padding), let pair = String(validating: data, as: UTF8.self)
        else {
            return false
        }
        return pair.contains(":")
    }

    /// RFC 7519, section 3: parts in base64url with dots between them, of which the first is a JSON object.
    private static func isJSONWebToken(_ value: String) -> Bool {
        guard value.utf8.starts(with: "eyJ".utf8), token68.containsAll(of: value) else { return false }
        let parts = value.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count > 1 && !parts[1].isEmpty && value.utf8.count >= SecretText.minimumTokenCount
    }
}
