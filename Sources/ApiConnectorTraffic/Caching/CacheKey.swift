// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What a ``CacheStorage`` keeps a record under: a digest of an address.
public struct CacheKey: Sendable, Hashable, CustomStringConvertible {
    /// 64 hexadecimal digits in lower case.
    public let description: String

    init(digest: [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        description = String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Makes a key of what ``description`` was; nil for anything else.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        description = text.lowercased()
    }
}

/// Digests what a cache tells requests apart by, so that nothing of it is ever kept in clear.
struct CacheDigest: Sendable {
    private let key: [UInt8]

    init(key: Data) {
        self.key = [UInt8](key)
    }

    /// 32 random bytes.
    static func newKey() -> Data {
        Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    }

    /// The key of an address: origin, path and query, without user info and fragment; nil for one that cannot be sent.
    ///
    /// A `Host` field of the caller's own is a part of the address.
    func key(of url: URL, host: String? = nil) -> CacheKey? {
        guard let origin = HTTPOrigin(url) else { return nil }
        let path = url.path(percentEncoded: true)
        let parts = [
            origin.scheme.rawValue, origin.host, String(origin.port), path.isEmpty ? "/" : path,
            url.query(percentEncoded: true), host,
        ]
        return CacheKey(digest: digest("address", parts))
    }

    /// Of what shows who asks; empty where nothing does.
    func credential(_ parts: [String]) -> Data {
        parts.isEmpty ? Data() : Data(digest("credential", parts))
    }

    /// Of the values of some fields of a request (RFC 9111, section 4.1); empty for no fields.
    func selection(of headers: HTTPHeaders, by names: [HTTPHeaders.Name]) -> Data {
        guard !names.isEmpty else { return Data() }
        let parts = names.flatMap { (name) -> [String?] in
            let values = headers.values(name)
            return [name.rawValue.lowercased(), values.isEmpty ? nil : values.joined(separator: ", ")]
        }
        return Data(digest("selection", parts))
    }

    /// Of parts that cannot be shifted against each other; an absent one differs from an empty one.
    private func digest(_ purpose: String, _ parts: [String?]) -> [UInt8] {
        var message = [UInt8](purpose.utf8)
        for part in parts {
            message.append(part == nil ? 0 : 1)
            var count = UInt64(part?.utf8.count ?? 0).littleEndian
            withUnsafeBytes(of: &count) { message += $0 }
            message += Array((part ?? "").utf8)
        }
        return SHA256Digest.authenticationCode(of: message, key: key)
    }
}
