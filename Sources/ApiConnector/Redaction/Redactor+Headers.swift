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
