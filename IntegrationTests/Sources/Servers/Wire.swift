// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import ApiConnector
import Foundation

/// A version of HTTP, with or without TLS.
public enum Wire: CaseIterable, Sendable {
    case plainHTTP1, plainHTTP2, secureHTTP1, secureHTTP2

    /// The versions over TLS.
    public static let secure: [Wire] = [.secureHTTP1, .secureHTTP2]

    /// A provider that uses this version and trusts one certificate.
    public func provider(trusting authority: URL) -> CurlProvider {
        .trusting(authority) { $0.httpVersion = version }
    }

    /// A URL of an nginx for this version.
    public func url(of nginx: Nginx, _ path: String) throws -> URL {
        switch self {
        case .plainHTTP1: try nginx.plain(path)
        case .plainHTTP2: try nginx.priorKnowledge(path)
        case .secureHTTP1, .secureHTTP2: try nginx.secure(path)
        }
    }

    /// Nginx's name of the version, such as `HTTP/2.0`.
    public var protocolName: String {
        switch self {
        case .plainHTTP1, .secureHTTP1: "HTTP/1.1"
        case .plainHTTP2, .secureHTTP2: "HTTP/2.0"
        }
    }

    private var version: CurlConfiguration.HTTPVersion {
        switch self {
        case .plainHTTP1, .secureHTTP1: .http1
        case .plainHTTP2: .http2PriorKnowledge
        case .secureHTTP2: .automatic
        }
    }
}
#endif
