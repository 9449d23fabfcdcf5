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
