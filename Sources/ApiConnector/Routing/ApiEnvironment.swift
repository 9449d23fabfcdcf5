// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Where a backend is: one case each for production, test, localhost and so on.
///
/// An enum with `String` raw values needs nothing else: the raw value is the host.
///
/// ```swift
/// enum Environment: String, ApiEnvironment {
///     case localhost
///     case production = "api.example.com"
/// }
/// ```
public protocol ApiEnvironment: Sendable {
    /// The server's name or address, without scheme and port: `api.example.com`, `127.0.0.1`, `::1`.
    ///
    /// A Unicode name becomes punycode. Anything that is not one plain host is percent-encoded in the URL,
    /// so that it names no other host, and a connection refuses to send there.
    var host: String { get }

    /// How to talk to it; ``HTTPScheme/http`` by default.
    ///
    /// On Apple's systems, App Transport Security refuses http in apps, except to `localhost`: return `.https` there.
    var scheme: HTTPScheme { get }

    /// The port that is written in every URL; the scheme's own, 80 or 443, by default. Nil leaves it out.
    var port: Int? { get }

    /// What stands before every path, such as `/v1`; empty by default.
    ///
    /// It is plain text as a `String` path is: `?`, `#` and `%` in it are data. A missing slash in front is added, and
    /// those behind it are left out.
    var basePath: String { get }

    /// Header fields of every request to this environment; none by default.
    var defaultHeaders: HTTPHeaders { get }
}

extension ApiEnvironment {
    /// HTTP without encryption.
    @inlinable public var scheme: HTTPScheme { .http }

    /// The scheme's own port.
    @inlinable public var port: Int? { scheme.defaultPort }

    /// Nothing before the paths.
    @inlinable public var basePath: String { "" }

    /// No fields.
    public var defaultHeaders: HTTPHeaders { HTTPHeaders() }
}

extension ApiEnvironment where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    @inlinable public var host: String { rawValue }
}
