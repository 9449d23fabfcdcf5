// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The key of a record in a ``CacheStorage``: a digest of a URL.
public struct CacheKey: Sendable, Hashable, CustomStringConvertible {
    /// 64 hexadecimal digits in lower case.
    public let description: String

    /// The first 16 digits as a number.
    ///
    /// They are random, so a dictionary need not hash all digits.
    private let start: UInt64

    /// Hashes a part of the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(start) }

    private init(digits: String) {
        description = digits
        start = digits.utf8.prefix(16).reduce(0) { $0 << 4 | UInt64($1 & 15 + 9 * ($1 >> 6)) }
    }

    init(digest: [UInt8]) {
        let text = String(unsafeUninitializedCapacity: 2 * digest.count) { digits in
            for (index, byte) in digest.enumerated() {
                for (place, value) in [(2 * index, byte >> 4), (2 * index + 1, byte & 15)] {
                    digits[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
                }
            }
            return 2 * digest.count
        }
        self.init(digits: text)
    }

    /// Makes a key from its ``description``; nil for any other text.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        self.init(digits: text.lowercased())
    }
}

/// Makes digests of URLs, credentials and header fields, so that a cache never stores them in clear text.
struct CacheDigest: Sendable {
    private let key: SHA256Digest.Key

    init(key: Data) {
        self.key = SHA256Digest.Key([UInt8](key))
    }

    /// 32 random bytes.
    static func newKey() -> Data {
        Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    }

    /// The key of a URL: origin, path and query, without user info and fragment; nil for a URL that cannot be
    /// requested.
    ///
    /// The caller's own `Host` field is part of the key.
    func key(of url: URL, host: String? = nil) -> CacheKey? {
        guard let origin = HTTPOrigin(url) else { return nil }
        let path = url.path(percentEncoded: true)
        let parts = [
            origin.scheme.rawValue, origin.host, String(origin.port), path.isEmpty ? "/" : path,
            url.query(percentEncoded: true), host,
        ]
        return CacheKey(digest: digest("address", parts))
    }

    /// The digest of a request's credentials; empty if it has none.
    func credential(_ parts: [String]) -> Data {
        parts.isEmpty ? Data() : Data(digest("credential", parts))
    }

    /// The digest of a request's header fields that a response varies by (RFC 9111, section 4.1); empty for no fields.
    func selection(of headers: HTTPHeaders, by names: [HTTPHeaders.Name]) -> Data {
        guard !names.isEmpty else { return Data() }
        let parts = names.flatMap { (name) -> [String?] in
            let values = headers.values(name)
            return [name.rawValue.lowercased(), values.isEmpty ? nil : values.joined(separator: ", ")]
        }
        return Data(digest("selection", parts))
    }

    /// The digest of several parts, unambiguous at their boundaries; a missing part differs from an empty one.
    private func digest(_ purpose: String, _ parts: [String?]) -> [UInt8] {
        var message = [UInt8](purpose.utf8)
        for part in parts {
            message.append(part == nil ? 0 : 1)
            var count = UInt64(part?.utf8.count ?? 0).littleEndian
            withUnsafeBytes(of: &count) { message += $0 }
            message += (part ?? "").utf8
        }
        return SHA256Digest.authenticationCode(of: message, key: key)
    }
}

/// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) for short texts.
///
/// The toolchain on Linux has no implementation.
struct SHA256Digest: Sendable {
    /// A key for authentication codes, with the digests of its two blocks.
    struct Key: Sendable {
        fileprivate var inner = SHA256Digest()
        fileprivate var outer = SHA256Digest()

        init(_ key: [UInt8]) {
            let short = key.count > 64 ? SHA256Digest.digest(of: key) : key
            let block = short + [UInt8](repeating: 0, count: 64 - short.count)
            inner.add(block.map { $0 ^ 0x36 })
            outer.add(block.map { $0 ^ 0x5C })
        }
    }

    private var state = SIMD8<UInt32>(
        0x6A09_E667,
        0xBB67_AE85,
        0x3C6E_F372,
        0xA54F_F53A,
        0x510E_527F,
        0x9B05_688C,
        0x1F83_D9AB,
        0x5BE0_CD19
    )
    private var byteCount = 0

    /// The 32 bytes of a message's digest.
    static func digest(of message: [UInt8]) -> [UInt8] { SHA256Digest().finished(with: message) }

    /// The 32 bytes of a message's authentication code.
    static func authenticationCode(of message: [UInt8], key: Key) -> [UInt8] {
        key.outer.finished(with: key.inner.finished(with: message))
    }

    /// The digest of the blocks so far and the rest of a message.
    private func finished(with rest: [UInt8]) -> [UInt8] {
        var digest = self
        var padded = rest
        padded.reserveCapacity(rest.count + 72)
        padded.append(0x80)
        padded.append(contentsOf: repeatElement(0, count: (120 - padded.count % 64) % 64))
        withUnsafeBytes(of: UInt64((byteCount + rest.count) << 3).bigEndian) { padded.append(contentsOf: $0) }
        digest.add(padded)
        return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            for index in 0..<32 {
                bytes[index] = UInt8(truncatingIfNeeded: digest.state[index >> 2] >> UInt32(24 - 8 * (index & 3)))
            }
            count = 32
        }
    }

    /// Adds whole blocks.
    private mutating func add(_ blocks: [UInt8]) {
        blocks.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 64) { add(bytes, blockAt: start) }
        }
        byteCount += blocks.count
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, blockAt start: Int) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            for index in 0..<16 {
                let word = bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)
                words[index] = UInt32(bigEndian: word)
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            Self.constants.withUnsafeBufferPointer { constants in
                for index in 0..<64 {
                    let first =
                        h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (e & f ^ ~e & g)
                    let one = first &+ constants[index] &+ words[index]
                    let two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ (a & b ^ a & c ^ b & c)
                    (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
                }
            }
            state &+= SIMD8(a, b, c, d, e, f, g, h)
        }
    }

    private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 - count) }

    /// The fractions of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}
