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

    /// The case of the conformance list that this libcurl does not pass.
    static let conformanceExclusions = asks ? [:] : ["reuses a connection": "a POST takes a new connection"]

    /// Whether the library uses HTTP/2 over this version: over 7.88, and from 8.3 on.
    static let hasHTTP2 = CurlRuntime.hasHTTP2

    /// Whether the file of trusted certificates exists that a session reads, which is libcurl's default.
    ///
    /// A libcurl from another distribution may name a file that this system does not have.
    static let hasAuthorities = CurlAuthorities.defaultPath.map { access($0, R_OK) == 0 } ?? true

    /// Whether the library reads this version's texts: up to the newest version that was tried.
    static let hasTexts = CurlRuntime.texts.areKnown

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

    /// Runs a test only over a libcurl whose texts the library reads.
    static var needsTexts: Self {
        .enabled(if: Libcurl.hasTexts, "the library does not read the texts of this libcurl")
    }

    /// Runs a test only over a libcurl whose texts the library does not read, because it is newer than any that was
    /// tried.
    static var needsUnknownTexts: Self {
        .enabled(if: !Libcurl.hasTexts, "the library reads the texts of this libcurl")
    }

    /// Runs a test only over a libcurl with which the library does not use HTTP/2.
    static var needsNoHTTP2: Self {
        .enabled(if: !Libcurl.hasHTTP2, "the library uses HTTP/2 over this libcurl")
    }
}
#endif
