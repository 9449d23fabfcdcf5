// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Names of secrets in one kind of place.
struct SecretNames: Sendable, Hashable {
    private var names: Set<String>
    /// Whether the words of a name are checked too; see `SecretNames+Headers.swift`.
    private let checksWords: Bool

    private init(_ names: Set<String>, checksWords: Bool = false) {
        self.names = names
        self.checksWords = checksWords
    }

    mutating func add(_ names: [String]) {
        self.names.formUnion(names.map(Self.normalized))
    }

    /// Whether a name is secret, or one part of a nested name such as `user[pin]` or `card.cvv` is.
    func contains(_ name: String) -> Bool { Self.anyPart(of: name, matches) }

    /// Whether a name or one part of it is on the list; the rules for other names are not checked.
    func lists(_ name: String) -> Bool { Self.anyPart(of: name) { names.contains(Self.normalized($0)) } }

    /// Whether a name in a text, which is not secret as the name of a body's field, is that of a secret header field.
    ///
    /// Only a name with a hyphen is judged by its words: in JSON, `key` and `sort_key` are rarely credentials.
    func containsHeader(_ name: String) -> Bool {
        names.contains(Self.normalized(name)) || name.utf8.contains(UInt8(ascii: "-")) && contains(name)
    }

    private static func anyPart(of name: String, _ matches: (String) -> Bool) -> Bool {
        if matches(name) { return true }
        // Most names have one part.
        guard name.utf8.contains(where: separators.contains) else { return false }
        let parts = name.split { $0 == "[" || $0 == "]" || $0 == "." }
        return parts.count > 1 && parts.contains { matches(String($0)) }
    }

    private static let separators = ByteSet("[].")

    private func matches(_ name: String) -> Bool {
        matchesExactly(name) || Self.withoutVersion(name).map(matchesExactly) ?? false
    }

    private func matchesExactly(_ name: String) -> Bool {
        let plain = Self.normalized(name)
        guard plain.utf8.count > 2 else { return names.contains(plain) }
        if names.contains(plain) { return true }
        if Self.harmless.contains(plain) || checksWords && Self.harmlessHeaders.contains(plain) { return false }
        // HTTP/2 writes all names in lower case, so the case of a header name does not tell its words.
        let name = checksWords ? name.lowercased() : name
        return Self.holdsPart(plain) || Self.endings.contains { plain.hasSuffix($0) }
            || plain.hasSuffix("key") && Self.keyEndings.contains { plain.hasSuffix($0) }
            || plain.hasSuffix("tokens") && Self.tokenEndings.contains { plain.hasSuffix($0) }
            || Self.isOwned(plain)
            || Self.lastWords.contains(Self.lastWord(of: name)) || checksWords && Self.isCredential(header: name, plain)
            || Self.singularKey(name, plain).map(matchesExactly) ?? false
    }

    /// `access_key` for `access_keys`; nil for any other name, for `keys` without another word, and for `passkeys`,
    /// which are rarely secret.
    private static func singularKey(_ name: String, _ plain: String) -> String? {
        guard plain.hasSuffix("keys"), plain.utf8.count > 4, !plain.hasSuffix("passkeys") else { return nil }
        return name.lastIndex { $0 == "s" || $0 == "S" }.map { String(name[..<$0]) }
    }

    /// `access_token` for `access_token2`, `access_token_v2` and `accessTokenV2`; nil for a name without a number at
    /// its end.
    private static func withoutVersion(_ name: String) -> String? {
        guard let last = name.utf8.last, ByteSet.decimalDigits.contains(last) else { return nil }
        var rest = name.unicodeScalars[...]
        while let last = rest.last, "0"..."9" ~= last { rest.removeLast() }
        // `token_v2`, but not `cvv2`
        let end = rest.suffix(2).map(\.properties.lowercaseMapping)
        if end.last == "v", end.first != "v" || end.count == 1 { rest.removeLast() }
        while let last = rest.last, last == "_" || last == "-" || last == " " { rest.removeLast() }
        return String(rest)
    }

    /// Whether a normalized name is `userpass`, `cardpin` or the like: the words of `user_pass` without a separator.
    private static func isOwned(_ plain: String) -> Bool {
        guard let ending = ownedEndings.first(where: { plain.hasSuffix($0) }) else { return false }
        let owner = plain.dropLast(ending.count)
        return owners.contains { owner.hasSuffix($0) }
    }

    /// The name in lower case with only its letters and digits.
    static func normalized(_ name: String) -> String {
        guard name.isASCII else { return name.lowercased().filter { $0.isLetter || $0.isNumber } }
        let kept = ByteSet.alphanumerics
        return String(unsafeUninitializedCapacity: name.utf8.count) { bytes in
            var count = 0
            for byte in name.utf8 where kept.contains(byte) {
                bytes[count] = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
                count += 1
            }
            return count
        }
    }

    /// Whether a normalized name has one of ``parts``.
    ///
    /// A search for each part took half of the time of a redaction, because `contains` compares characters.
    private static func holdsPart(_ plain: String) -> Bool {
        guard plain.isASCII else { return parts.contains { plain.contains($0) } }
        var plain = plain
        return plain.withUTF8 { bytes in
            let starts = partStarts
            return bytes.indices.contains { start in
                starts.contains(bytes[start]) && parts.contains { bytes[start...].starts(with: $0.utf8) }
            }
        }
    }

    /// The last word of `user_pin`, `user-pin` or `userPin`, in lower case.
    private static func lastWord(of name: String) -> String {
        guard !name.isASCII else { return lastWord(ofASCII: name) }
        let end = name.lastIndex { $0.isLetter || $0.isNumber }.map { name.index(after: $0) } ?? name.startIndex
        var start = end
        while start > name.startIndex {
            let previous = name.index(before: start)
            guard name[previous].isLetter || name[previous].isNumber else { break }
            if start < end, name[start].isUppercase, name[previous].isLowercase { break }
            start = previous
        }
        return name[start..<end].lowercased()
    }

    private static func lastWord(ofASCII name: String) -> String {
        var name = name
        return name.withUTF8 { bytes in
            let word = ByteSet.alphanumerics
            let end = bytes.lastIndex(where: word.contains).map { $0 + 1 } ?? 0
            var start = end
            while start > 0, word.contains(bytes[start - 1]) {
                let isUpper = start < end && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= bytes[start]
                if isUpper, UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[start - 1] { break }
                start -= 1
            }
            return String(decoding: bytes[start..<end], as: UTF8.self).lowercased()
        }
    }
}

extension SecretNames {
    /// Queries, fragments and forms.
    ///
    /// `key` is an API key in a URL, but also half of a key-value pair in JSON. `code` is a credential in a URL or a
    /// form (RFC 6749, section 4.1.2), but an error number in JSON. So both are secret here, and not in JSON.
    static let queryItems = SecretNames(
        common.union([
            "appid",  // OpenWeather
            "appkey", "applicationkey", "authcode", "clientkey", "code", "consumerkey",
            "crtfckey",  // DART
            "developerkey", "dsn",
            "hdnea", "hdnts",  // Akamai
            "invitecode", "key", "licence", "license", "oauthverifier", "oobcode", "serverkey", "servicekey", "ticket",
            "userkey",
            "wskey",  // Europeana
        ])
    )

    /// JSON and XML.
    static let bodyFields = SecretNames(common)

    /// Header fields.
    static let headers = SecretNames(
        common.union([
            "authenticationinfo", "cookie", "cookie2", "dpop", "iplanetdirectorypro", "ocpapimsubscriptionkey",
            "proxyauthenticationinfo",
            "setcookie", "setcookie2", "xaccesskey", "xamzserversideencryptioncustomerkey", "xauth", "xauthkey",
            "xfunctionskey", "xgoogiapjwtassertion", "xjwtassertion", "xmsencryptionkey", "xsession", "xsessionid",
        ]),
        checksWords: true
    )

    private static let common: Set<String> = [
        "accountkey", "assertion", "auth", "awsaccesskeyid", "bearer", "ccnum", "ccnumber", "cardnumber",
        "clientassertion", "codeverifier", "connectionstring", "creditcard", "creditcardnumber", "csrf", "devicecode",
        "googleaccessid", "hmac", "idtokens", "jsessionid", "livestreamkey", "mfacode", "mnemonic", "otpcode", "pw",
        "recoverykeysb64", "recoverykeyshex", "samlassertion", "samlresponse", "securitycode", "seedphrase", "session",
        "sessionid", "sessionkey", "sharedaccesskey", "sharedaccesssignature", "socialsecuritynumber", "streamkey",
        "subscriptionkey", "tokens", "unsealkeysb64", "unsealkeyshex", "usercode", "verificationcode", "xsrf",
    ]

    /// Secret anywhere in a name: `newPassword`, `client_secret_2`.
    private static let parts = [
        "apikey", "credential", "passcode", "passphrase", "passwd", "password", "privatekey", "secret",
    ]
    private static let partStarts = ByteSet("acps")

    /// Secret at the end of a name: `csrfmiddlewaretoken`, but not `token_type` and `max_tokens`.
    private static let endings = [
        "accountsid", "authcode", "authorization", "authsid", "backupcode", "backupcodes", "creds", "cvc", "cvv", "jwt",
        "otp", "pwd", "recoverycode", "recoverycodes", "sessid", "sessionid", "signature", "token", "tokenstring",
        "tokenvalue",
    ]

    /// Secret before `key` or `keys` at the end of a name: `webhook_hmac_key`, but not `primary_key`.
    private static let keyEndings = [
        "access", "auth", "authentication", "decryption", "encryption", "hmac", "license", "master", "pass", "recovery",
        "shared", "signing", "symmetric", "unseal",
    ].map { $0 + "key" }

    /// Secret before `tokens` at the end of a name: `refresh_tokens`, but not `max_tokens`.
    private static let tokenEndings = [
        "access", "api", "auth", "bearer", "csrf", "device", "login", "refresh", "security", "session", "verification",
        "xsrf",
    ].map { $0 + "tokens" }

    /// Secret as the last word of a name: `user_pin`, but not `shipping`.
    private static let lastWords: Set<String> = ["pass", "pin", "pw", "sid", "sig", "ssn"]

    /// Secret at the end of a name in which one of ``owners`` stands before them: `userpass`, but not `compass`.
    private static let ownedEndings = ["pass", "pin", "pw", "sig", "ssn"]
    private static let owners = [
        "account", "admin", "api", "app", "auth", "card", "client", "current", "db", "device", "http", "key", "login",
        "mail", "new", "old", "proxy", "request", "sms", "smtp", "sudo", "token", "url", "user",
    ]

    /// Names of tokens in the response of a token endpoint that are secret only there.
    static let pairedTokenNames: Set<String> = ["access", "refresh"]

    /// Names that tell the response of a token endpoint, two of them together.
    static let tokenResponseNames = pairedTokenNames.union(["expiresin", "tokentype"])

    /// Whether a string with this name in the response of a token endpoint may be a token.
    static func mayHoldToken(_ name: String) -> Bool { !harmlessBesideTokens.contains(normalized(name)) }

    private static let harmlessBesideTokens: Set<String> = [
        "aud", "audience", "clientid", "code", "createdat", "date", "description", "detail", "details", "error",
        "errorcode", "errordescription", "errors", "erroruri", "exp", "expiration", "expires", "expiresat",
        "expiresin", "expiry", "granttype", "hint", "iat", "instance", "iss", "issuedat", "issuer", "message",
        "messages", "nbf", "path", "reason", "requestid", "scope", "scopes", "status", "statuscode", "suberror", "time",
        "timestamp", "title", "tokentype", "traceid", "type", "updatedat",
    ]

    /// Names that the rules would wrongly treat as secrets, and fields of most requests and responses, which so need no
    /// rules.
    private static let harmless: Set<String> = [
        "accept", "acceptencoding", "acceptlanguage", "accesscontrolallowcredentials", "age", "cachecontrol",
        "connection", "contentencoding", "contentlength", "contenttype", "date", "etag", "expires", "host",
        "ifmodifiedsince", "ifnonematch", "lastmodified", "location", "origin", "passkeys", "range", "retryafter",
        "secretary", "server", "traceparent", "transferencoding", "useragent", "vary", "via",
    ]
}
