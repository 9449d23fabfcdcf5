// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A public key in DER, as a certificate holds it and as a ``PublicKeyPin`` is made of it (RFC 5280, section 4.1.2.7).
///
/// Apple's Security framework hands keys out without the header that names their algorithm; this puts it before them.
struct SubjectPublicKeyInfo {
    /// The bytes that are hashed.
    let der: Data

    /// Puts the header before a key: RSA in PKCS #1, or a point of P-256, P-384 or P-521 in X9.63, uncompressed.
    ///
    /// Each of these begins in its own way; nil for anything else.
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
        // A bit string says first how many bits of its last byte are unused.
        let content = Self.element(Self.sequence, Data(algorithm)) + Self.element(Self.bitString, [0] + key)
        der = Self.element(Self.sequence, content)
    }

    /// Tag, length and content; lengths of 128 and more have a byte before them that counts their own.
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

    /// 1.2.840.113549.1.1.1, and no parameters (RFC 3279, section 2.3.1).
    private static let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
    /// 1.2.840.10045.2.1, before the curve's own identifier (RFC 5480, section 2.1.1).
    private static let ellipticCurve: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let p384: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    private static let p521: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
}
