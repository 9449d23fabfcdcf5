// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The words of header names.
///
/// There are too many services to list the names of all their credential fields. A name that is wrongly taken for a
/// secret costs a cache hit. A name that is missed shows a credential to another origin or another user.
extension SecretNames {
    /// Credential fields whose names have no word that tells.
    private static let wordlessHeaders: Set<String> = [
        "cst",  // IG
        "jenkinscrumb",  // Jenkins
        "xamznoidcdata",  // AWS load balancers
        "xcred", "xcsrf", "xsso", "xxsrf",
        "xfirebaseappcheck",  // Firebase
        "xhaaccess",  // Home Assistant
        "xhoneycombteam",  // Honeycomb
        "xjfrogartapi",  // Artifactory
        "xmsclientprincipal",  // Azure App Service
        "xovhapplication", "xovhconsumer",  // OVHcloud
        "xowacanary",  // Outlook
        "xwpnonce",  // WordPress
        "xwsse",  // WS-Security
    ]

    /// Fields whose names have such a word, and that have no credential: a challenge, the signature of a body, which is
    /// useless for another body, and the name of a user, which an authenticating proxy adds.
    ///
    /// The fields of most requests are here too, so that a cache hit does not look for words in them.
    static let harmlessHeaders: Set<String> = [
        "accept", "acceptencoding", "acceptlanguage", "cachecontrol", "contenttype", "host", "useragent",
        "acceptsignature",  // RFC 9421
        "contentsignature", "xcontentsignature",  // Mozilla
        "proxyauthenticate", "wwwauthenticate",
        "xauthrequestemail", "xauthrequestgroups", "xauthrequestpreferredusername", "xauthrequestuser",  // OAuth2 Proxy
    ]

    /// Whether a word of a header field's name says that its value is a credential: `DD-APPLICATION-KEY`,
    /// `X-ZUMO-AUTH`.
    ///
    /// - Parameters:
    ///   - name: The name in lower case. Digits separate words, so that `X-Token2` and `X-Signature-V2` are judged like
    ///     `X-Token` and `X-Signature`.
    ///   - plain: The normalized name.
    static func isCredential(header name: String, _ plain: String) -> Bool {
        if wordlessHeaders.contains(plain) { return true }
        var words = words(of: name)
        while words.last == "v" { words.removeLast() }
        guard let last = words.last, !descriptions.contains(last) else { return false }
        // `X-Forwarded-Client-Cert`: with a proxy in front of the server, the certificate is the user's credential.
        if plain.contains("clientcert") { return true }
        if last == "code" { return words.dropLast().last.map { codeKinds.contains($0) } ?? false }
        if last.hasSuffix("code"), codeKinds.contains(String(last.dropLast(4))) { return true }
        if last.hasSuffix("key") { return isCredentialKey(last, after: words.dropLast().last) }
        return lastHeaderWords.contains(last)
            || lastHeaderWordEndings.contains { last.hasSuffix($0) } && !ordinaryWords.contains(last)
            || words.contains { word in
                headerWords.contains(word) || isGlued(word)
                    || headerWordEndings.contains { word.hasSuffix($0) } && !ordinaryWords.contains(word)
            }
    }

    /// Whether a word is `authheader`, `sessiondata` or the like: the words of `X-Auth-Header` without a hyphen.
    private static func isGlued(_ word: String) -> Bool {
        gluedStarts.contains { word.hasPrefix($0) && gluedEnds.contains(String(word.dropFirst($0.count))) }
    }

    private static func words(of name: String) -> [String] {
        guard name.isASCII else { return name.split { !$0.isLetter }.map { String($0) } }
        let word = ByteSet.letters
        return name.utf8.split { !word.contains($0) }.map { String(Substring($0)) }
    }

    /// Whether a name that ends with `Key` is that of a credential; `before` is the word before the last one.
    private static func isCredentialKey(_ last: String, after before: String?) -> Bool {
        let kind = String(last.dropLast(3))
        if kind.isEmpty { return before.map { !harmlessKeys.contains($0) } ?? true }
        return !harmlessKeys.contains(kind) && !wordsEndingWithKey.contains(last)
    }

    /// Secret as any word of a name.
    private static let headerWords: Set<String> = [
        "assertion", "authenticate", "authentication", "authorization", "authorize", "authn", "authz", "bearer", "dsn",
        "hmac", "licence", "license", "saml",
    ]

    /// Secret before `Code` at the end of a name: `X-Access-Code`, but not `X-Error-Code`.
    private static let codeKinds: Set<String> = [
        "access", "activation", "auth", "confirmation", "device", "invitation", "invite", "login", "mfa", "otp", "pin",
        "recovery", "security", "unlock", "verification",
    ]

    /// Secret at the end of any word of a name: `X-OAuth`, `X-UserJWT`.
    private static let headerWordEndings = ["auth", "jwt", "pwd", "session", "signature", "token"]

    /// Secret with one of ``gluedEnds`` after it: `X-AuthHeader`, but not `X-Author`.
    private static let gluedStarts = ["auth", "session", "token"]
    private static let gluedEnds: Set<String> = [
        "cookie", "data", "hash", "header", "info", "string", "ticket", "user", "value",
    ]

    /// Secret at the end of the last word of a name: `X-DoorPin`.
    private static let lastHeaderWordEndings = ["cookie", "pass", "pin", "pw", "sig"]

    /// Words with one of these endings that have nothing to do with credentials.
    private static let ordinaryWords: Set<String> = [
        "bypass", "compass", "dropin", "encompass", "obsession", "overpass", "possession", "profession", "spin",
        "trespass", "underpass",
    ]

    /// Secret as the last word of a name.
    private static let lastHeaderWords: Set<String> = ["cookie", "cookies", "sign", "ticket"]

    /// Last words of fields about a credential, which do not have the credential: `X-Token-Type`, `X-OAuth-Scopes`.
    private static let descriptions: Set<String> = [
        "affinity", "algo", "algorithm", "binding", "count", "date", "enabled", "error", "expires", "expiration",
        "expiry", "format", "id", "input", "language", "length", "level", "limit", "locale", "method", "mode", "name",
        "policy", "provider", "realm", "remaining", "required", "reset", "result", "results", "scheme", "scope",
        "scopes", "size", "start", "status", "supported", "time", "timeout", "timestamp", "ttl", "type", "uri", "url",
        "used", "version",
    ]

    /// Kinds of keys that are not credentials: `Idempotency-Key`, `X-PartitionKey`.
    private static let harmlessKeys: Set<String> = [
        "batch", "cache", "dedup", "dedupe", "deduplication", "event", "file", "foreign", "group", "hash",
        "idempotence", "idempotency", "idempotent", "issue", "kafka", "lock", "message", "object", "parent",
        "partition", "primary", "pub", "public", "range", "record", "replay", "retry", "routing", "row", "sequence",
        "shard", "sort", "surrogate", "trace", "translation", "vary", "websocket",
    ]

    /// Words that have nothing to do with keys, and the cache tags of Varnish.
    private static let wordsEndingWithKey: Set<String> = [
        "hockey", "hotkey", "jockey", "monkey", "turkey", "whiskey", "xkey",
    ]
}
