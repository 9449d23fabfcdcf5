// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The pin of a server's public key: the SHA-256 of its SubjectPublicKeyInfo.
///
/// ```sh
/// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
/// ```
///
/// A connection is only opened if the server's own key is among the pins and its certificate is also valid. Pin a
/// second key as a backup: if only one key is pinned and the server changes it, all clients are locked out.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The hash in base64, 44 characters.
    public let sha256: String

    /// Makes a pin from a base64 hash, with or without the prefix `sha256//` or `sha256/`; nil if it is not 32 bytes.
    public init?(sha256 text: String) {
        var base64 = Substring(text)
        for prefix in ["sha256//", "sha256/"] where base64.hasPrefix(prefix) {
            base64 = base64.dropFirst(prefix.count)
            break
        }
        guard let hash = Data(base64Encoded: String(base64)), hash.count == 32 else { return nil }
        // Different base64 texts can mean the same bytes.
        sha256 = hash.base64EncodedString()
    }

    /// The hash in libcurl's format.
    public var description: String { "sha256//\(sha256)" }
}
