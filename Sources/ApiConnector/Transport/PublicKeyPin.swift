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

/// A public key in DER, as in a certificate, from which a ``PublicKeyPin`` is computed (RFC 5280, section 4.1.2.7).
///
/// Apple's Security framework returns keys without the header that names their algorithm; this type adds it.
struct SubjectPublicKeyInfo {
    /// The bytes to hash.
    let der: Data

    /// Adds the header to a key: RSA in PKCS #1, or a point of P-256, P-384 or P-521 in uncompressed X9.63 format.
    ///
    /// Each of these formats has a distinct beginning. The result is nil for any other key.
    init?(externalRepresentation key: Data) {
        switch (key.first, key.count) {
        case (Self.sequence, _): self.init(algorithm: Self.rsa, key)
        case (0x04, 65): self.init(algorithm: Self.ellipticCurve + Self.p256, key)
        case (0x04, 97): self.init(algorithm: Self.ellipticCurve + Self.p384, key)
        case (0x04, 133): self.init(algorithm: Self.ellipticCurve + Self.p521, key)
        default: return nil
        }
    }

    private init(algorithm: [UInt8], _ key: Data) {
        // A bit string begins with the number of unused bits in its last byte.
        let content = Self.element(Self.sequence, Data(algorithm)) + Self.element(Self.bitString, [0] + key)
        der = Self.element(Self.sequence, content)
    }

    /// Tag, length and content; a length of 128 or more is preceded by its number of bytes.
    private static func element(_ tag: UInt8, _ content: Data) -> Data {
        var length: [UInt8] = []
        var rest = content.count
        repeat {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest > 0
        if content.count >= 0x80 { length.insert(0x80 | UInt8(length.count), at: 0) }
        return [tag] + length + content
    }

    private static let sequence: UInt8 = 0x30
    private static let bitString: UInt8 = 0x03

    /// 1.2.840.113549.1.1.1 without parameters (RFC 3279, section 2.3.1).
    private static let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
    /// 1.2.840.10045.2.1, followed by the curve's own identifier (RFC 5480, section 2.1.1).
    private static let ellipticCurve: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let p384: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    private static let p521: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
}
