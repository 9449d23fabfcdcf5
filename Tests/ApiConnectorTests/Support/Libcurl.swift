// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// Facts about the tested libcurl on which expectations depend.
enum Libcurl {
    /// The version, such as `0x07_58_01` for 7.88.1.
    static let version = CurlRuntime.texts.version

    /// Whether libcurl asks before it sends a request: from 7.80 on.
    ///
    /// Earlier versions repeat a request by themselves if it was sent on a reused connection. So a request that must not
    /// be sent twice takes a new connection there.
    static let asks = CurlRuntime.asksBeforeSending

    /// Whether the library uses HTTP/2 over this version: over 7.88, and from 8.3 on.
    static let hasHTTP2 = CurlRuntime.hasHTTP2

    /// Whether libcurl reads all that a server sends before it returns: 7.88.
    ///
    /// The other versions return from time to time, so a call without a limit goes on until its server ends it.
    static let readsWithoutEnd = 0x07_58_00..<0x07_59_00 ~= version
}

extension Trait where Self == ConditionTrait {
    /// Runs a test only over a libcurl with which the library uses HTTP/2.
    static var needsHTTP2: Self {
        .enabled(if: Libcurl.hasHTTP2, "HTTP/2 needs libcurl 7.88, or 8.3 or later")
    }

    /// Runs a test only over a libcurl with which the library does not use HTTP/2.
    static var needsNoHTTP2: Self {
        .enabled(if: !Libcurl.hasHTTP2, "the library uses HTTP/2 over this libcurl")
    }
}
#endif
