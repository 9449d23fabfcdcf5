// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
