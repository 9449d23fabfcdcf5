// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl
#endif

/// A content coding of a body (RFC 9110, section 8.4).
enum ContentCoding: Hashable, Sendable {
    case gzip, deflate, brotli, zstandard
    /// A coding that is not known here.
    case other(String)

    /// The name in a header field, in lower case.
    var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstandard: "zstd"
        case .other(let name): name
        }
    }

    /// The coding in the header fields; nil for none.
    ///
    /// If there are several, it is the first one. ``refusal(of:)`` is called before, and refuses several codings.
    init?(_ headers: HTTPHeaders) {
        guard let name = Self.names(in: headers).first else { return nil }
        switch name {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstandard
        default: self = .other(name)
        }
    }

    /// Why the body cannot be decoded; nil if decoding can be tried.
    ///
    /// Each nested coding multiplies the work: 6,896 bytes in four layers of gzip took over 41 seconds, and a limit on
    /// the output of the last layer does not bound that.
    static func refusal(of headers: HTTPHeaders) -> String? {
        let names = names(in: headers)
        guard names.count > 1 else { return nil }
        return "the body has \(names.count) content codings, \(names[0]) and \(names[1])"
            + (names.count > 2 ? " among them" : "") + "; at most one is supported"
    }

    /// The names without those that mean "not coded"; shortened, because error texts show them.
    private static func names(in headers: HTTPHeaders) -> [String] {
        guard headers.contains(.contentEncoding) else { return [] }
        return headers.elements(.contentEncoding)
            .map { String($0.lowercased().prefix(32)) }
            .filter { $0 != "identity" && $0 != "none" }
    }
}

/// Prevents a small compressed body from becoming huge.
struct ExpansionLimit: Sendable, Hashable {
    /// The decoded size up to which a body is never refused because of its ratio: 1 MiB.
    ///
    /// It lets short and very regular bodies pass.
    static let freeByteCount = 1 << 20

    let maximumRatio: Int
    let maximumByteCount: Int
    private(set) var receivedByteCount = 0
    private(set) var decodedByteCount = 0

    init(maximumRatio: Int, maximumByteCount: Int) {
        self.maximumRatio = maximumRatio
        self.maximumByteCount = maximumByteCount
    }

    /// Counts received bytes of the compressed body.
    mutating func receive(_ byteCount: Int) {
        receivedByteCount += byteCount
    }

    /// Counts decoded bytes.
    ///
    /// - Returns: Why they are refused; nil if they are within the limits.
    mutating func admit(_ byteCount: Int) -> String? {
        decodedByteCount += byteCount
        if decodedByteCount > maximumByteCount {
            return "the decompressed body is longer than the limit of \(maximumByteCount) bytes"
        }
        guard decodedByteCount > Self.freeByteCount else { return nil }
        let (allowed, isHuge) = receivedByteCount.multipliedReportingOverflow(by: maximumRatio)
        guard !isHuge, decodedByteCount > allowed else { return nil }
        return "the body expands to more than \(maximumRatio) times its compressed size"
    }
}

#if Curl && os(Linux)
/// The libraries and the limits for decoding a provider's bodies.
struct BodyDecompression: Sendable {
    let libraries: DecodingLibraries
    let limit: ExpansionLimit
    /// The `Accept-Encoding` of requests; nil for no coding.
    let acceptEncoding: String?

    /// - Returns: Nil if bodies are delivered unchanged.
    init?(_ decompression: CurlConfiguration.Decompression, _ libraries: DecodingLibraries) {
        guard case .limited(let ratio, let byteCount) = decompression else { return nil }
        self.libraries = libraries
        limit = ExpansionLimit(maximumRatio: ratio, maximumByteCount: byteCount)
        let names = libraries.codings.map(\.name)
        acceptEncoding = names.isEmpty ? nil : names.joined(separator: ", ")
    }
}

/// The libraries for decoding bodies that this system has.
///
/// Unchecked, because it contains C function pointers, which do not change while the process lives.
struct DecodingLibraries: @unchecked Sendable {
    var zlib: ccoding_zlib?
    var brotli: ccoding_brotli?
    var zstandard: ccoding_zstd?

    /// The libraries of this system, loaded once.
    static let system: DecodingLibraries = {
        var libraries = DecodingLibraries()
        var (zlib, brotli, zstandard) = (ccoding_zlib(), ccoding_brotli(), ccoding_zstd())
        if ccoding_load_zlib(&zlib) != 0 { libraries.zlib = zlib }
        if ccoding_load_brotli(&brotli) != 0 { libraries.brotli = brotli }
        if ccoding_load_zstd(&zstandard) != 0 { libraries.zstandard = zstandard }
        return libraries
    }()

    /// The codings that can be decoded.
    var codings: [ContentCoding] {
        (zlib == nil ? [] : [.gzip, .deflate]) + (brotli == nil ? [] : [.brotli])
            + (zstandard == nil ? [] : [.zstandard])
    }

    /// The decoder of a coding; nil if it cannot be decoded.
    func decoder(of coding: ContentCoding) -> (any ContentDecoder)? {
        switch coding {
        case .gzip: zlib.map { InflateDecoder($0, .gzip) }
        case .deflate: zlib.map { InflateDecoder($0, .deflate) }
        case .brotli: brotli.flatMap { BrotliDecoder($0) }
        case .zstandard: zstandard.flatMap { ZstandardDecoder($0) }
        case .other: nil
        }
    }
}
#endif
