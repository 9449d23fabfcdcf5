// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders {
    /// The name of a header field.
    ///
    /// A name keeps its case. Comparisons ignore the case.
    public struct Name: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it was written.
        public let rawValue: String

        /// Makes a name from any text.
        ///
        /// A request with a name that is not a token (RFC 9110) is refused.
        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Makes a name from a literal.
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
        guard left.rawValue.utf8.count == right.rawValue.utf8.count else { return false }
        var left = left.rawValue
        var right = right.rawValue
        // As strings, U+212A and K would be equal, so this compares bytes. `memcmp` comes first, because most equal
        // names have the same case.
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
    /// The media types that the client accepts.
    public static let accept: Self = "Accept"
    /// The content codings that the client accepts.
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// The credential for the server.
    public static let authorization: Self = "Authorization"
    /// How long and where the response may be cached.
    public static let cacheControl: Self = "Cache-Control"
    /// The name of a part of a multipart form, or a hint to save the body as a file.
    public static let contentDisposition: Self = "Content-Disposition"
    /// The coding of the body, such as gzip.
    public static let contentEncoding: Self = "Content-Encoding"
    /// The body's length in bytes.
    public static let contentLength: Self = "Content-Length"
    /// The range of the resource that the body contains.
    public static let contentRange: Self = "Content-Range"
    /// The body's media type.
    public static let contentType: Self = "Content-Type"
    /// Cookies for the server.
    public static let cookie: Self = "Cookie"
    /// The entity tag: the version of the resource in the response.
    public static let etag: Self = "ETag"
    /// The host name of the requested server.
    public static let host: Self = "Host"
    /// A key that makes an unsafe request safe to repeat.
    public static let idempotencyKey: Self = "Idempotency-Key"
    /// Returns the resource only if its version has changed.
    public static let ifNoneMatch: Self = "If-None-Match"
    /// Returns a part of the resource only if its version has not changed, otherwise the whole resource.
    public static let ifRange: Self = "If-Range"
    /// The date of the resource's last change.
    public static let lastModified: Self = "Last-Modified"
    /// Links to other resources, such as the next page; see ``WebLink``.
    public static let link: Self = "Link"
    /// The target of a redirect, or the URL of a created resource.
    public static let location: Self = "Location"
    /// The credential for a proxy.
    public static let proxyAuthorization: Self = "Proxy-Authorization"
    /// The requested range of the resource.
    public static let range: Self = "Range"
    /// How long to wait before a retry.
    public static let retryAfter: Self = "Retry-After"
    /// A cookie to store; one field per cookie.
    public static let setCookie: Self = "Set-Cookie"
    /// The client program; the library's transports send `ApiConnector/0.1` if the request has no such field.
    public static let userAgent: Self = "User-Agent"
    /// The authentication methods that the server accepts.
    public static let wwwAuthenticate: Self = "WWW-Authenticate"
}
