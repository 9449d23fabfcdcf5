// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Tells whether a whole value has the form of a credential, regardless of its name.
///
/// A text is redacted by more rules, because too much redaction does no harm there. This decides which requests a cache
/// stores and what crosses origins, so `basic income`, `session:desc` and a base64 cursor are not credentials.
enum CredentialForm {
    /// The minimum length of a word after a scheme; with a digit, 6 characters are enough.
    private static let minimumWordCount = 16
    private static let token68 = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=")

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
