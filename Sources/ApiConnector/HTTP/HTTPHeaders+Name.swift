// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders {
    /// A field's name: kept as it was written, compared without case.
    public struct Name: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it was written.
        public let rawValue: String

        /// Makes a name of any text; one that is no RFC 9110 token is refused when it is used.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a name of a literal.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// The name as it was written.
        public var description: String { rawValue }

        var isToken: Bool {
            !rawValue.isEmpty && ByteSet.token.containsAll(of: rawValue)
        }
    }
}

extension HTTPHeaders.Name: Hashable {
    /// Compares without regard to the case of ASCII letters.
    public static func == (left: Self, right: Self) -> Bool {
        var left = left.rawValue
        var right = right.rawValue
        guard left.utf8.count == right.utf8.count else { return false }
        // As texts U+212A and K would be equal. Most names that are equal are written alike.
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return true }
                if memcmp(one, other, left.count) == 0 { return true }
                return left.indices.allSatisfy { lowered(left[$0]) == lowered(right[$0]) }
            }
        }
    }

    /// Hashes the lower-cased name.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(Self.lowered(byte)) }
        hasher.combine(UInt8(0xFF))
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension HTTPHeaders.Name {
    /// Which media types the caller reads.
    public static let accept: Self = "Accept"
    /// Which codings of the body the caller reads.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// The credential for the server.
    public static let authorization: Self = "Authorization"
    /// How long and where the response may be kept.
    public static let cacheControl: Self = "Cache-Control"
    /// What a part of a form is called, or that the body is a file.
    public static let contentDisposition: Self = "Content-Disposition"
    /// The coding of the body, such as gzip.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The body's length in bytes.
    public static let contentLength: Self = "Content-Length"
    /// Which part of the resource the body is.
    public static let contentRange: Self = "Content-Range"
    /// The body's media type.
    public static let contentType: Self = "Content-Type"
    /// Cookies for the server.
    public static let cookie: Self = "Cookie"
    /// The version of the resource that was sent.
    public static let etag: Self = "ETag"
    /// The name of the server asked.
    public static let host: Self = "Host"
    /// A key that makes an unsafe request safe to repeat.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// Sends the resource only if its version has changed.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Sends a part of the resource only if its version has not changed, else all of it.
    public static let ifRange: Self = "If-Range"
    /// When the resource was changed.
    public static let lastModified: Self = "Last-Modified"
    /// Where else to look, such as the next page; see ``WebLink``.
    public static let link: Self = "Link"
    /// Where a redirect leads, or where something was created.
    public static let location: Self = "Location"
    /// The credential for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// Which part of the resource is asked for.
    public static let range: Self = "Range"
    /// When to ask again.
    public static let retryAfter: Self = "Retry-After"
    /// A cookie to keep; one field each.
    public static let setCookie: Self = "Set-Cookie"
    /// The program that asks; `ApiConnector/0.1` over the library's transports where the request has none.
    public static let userAgent: Self = "User-Agent"
    /// How to authenticate.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}
