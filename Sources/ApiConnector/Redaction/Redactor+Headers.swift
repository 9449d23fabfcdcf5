// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Redactor {
    /// The fields with the values of secret ones replaced, and with what is secret within the others.
    public func redact(_ headers: HTTPHeaders) -> HTTPHeaders {
        headers.reduce(into: HTTPHeaders()) { $0.append($1.name, redact($1.value, ofHeader: $1.name)) }
    }

    /// The value of a field as it may be shown.
    ///
    /// A secret one is replaced; of a credential the scheme stays, of `Set-Cookie` the cookie's name and attributes.
    /// A challenge (`WWW-Authenticate`) stays as it is. An address is redacted as a URL, anything else as text.
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

    /// `Bearer REDACTED`; an unknown first word may be the secret itself and goes too.
    private func redactedCredential(_ value: String) -> String {
        guard !value.isEmpty else { return value }
        return String(decoding: Array(value.utf8.prefix(Self.credentialStart(in: value))), as: UTF8.self)
            + Self.replacement
    }

    /// Where in a value's UTF-8 the credential begins: behind a scheme that is known, and the blank there.
    static func credentialStart(in value: String) -> Int {
        let scheme = value.prefix { $0 != " " }
        let isKnown = scheme.endIndex < value.endIndex && schemes.contains(scheme.lowercased())
        return isKnown ? scheme.utf8.count + 1 : 0
    }

    private static let schemes: Set<String> = [
        "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate",
        "ntlm", "oauth", "scram-sha-1", "scram-sha-256", "sharedkey", "token", "vapid",
    ]

    private func redactedCookie(_ cookie: String) -> String {
        let parts = cookie.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return Self.replacement }
        let name = pair[..<equals].trimmingCharacters(in: .whitespaces)
        let value = pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        // A value of "=" is the padding of something in base64 that is no cookie at all.
        guard !name.isEmpty, ByteSet.token.containsAll(of: name), value.contains(where: { $0 != "=" }) else {
            return Self.replacement
        }
        let attributes = parts.dropFirst().map { isCookieAttribute($0) ? String($0) : " " + Self.replacement }
        return (["\(name)=\(Self.replacement)"] + attributes).joined(separator: ";")
    }

    /// Whether it is an attribute that is known, and not the rest of a value in quotes.
    func isCookieAttribute(_ part: Substring) -> Bool {
        let name = part.prefix { $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased()
        return part.allSatisfy { $0 == " " } || Self.cookieAttributes.contains(name)
    }

    private static let cookieAttributes: Set<String> = [
        "domain", "expires", "httponly", "max-age", "partitioned", "path", "priority", "samesite", "secure", "version",
    ]
}
