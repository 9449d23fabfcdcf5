// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The location of a backend, with one case each for production, test, localhost and so on.
///
/// An enum with `String` raw values needs no other members: the raw value is the host.
///
/// ```swift
/// enum Environment: String, ApiEnvironment {
///     case localhost
///     case production = "api.example.com"
/// }
/// ```
///
/// Declare each property with the type that the protocol has. Swift does not report another type, such as
/// `let port: Int`: the default applies. If the property is stored, a connection refuses the first request with kind
/// `.invalidRequest` and names the property. A computed property of another type is not found.
public protocol ApiEnvironment: Sendable {
    /// The server's host name or address, without scheme and port: `api.example.com`, `127.0.0.1`, `::1`.
    ///
    /// A Unicode name is converted to punycode. A text that is not a plain host name is percent-encoded in the URL, so
    /// that it cannot name another host. A connection refuses to send such a request.
    var host: String { get }

    /// The scheme; ``HTTPScheme/http`` by default.
    ///
    /// On Apple's systems, App Transport Security refuses http in apps, except to `localhost`. Return `.https` for
    /// every other host.
    var scheme: HTTPScheme { get }

    /// The port in every URL; the scheme's default port, 80 or 443, by default. Nil leaves it out.
    var port: Int? { get }

    /// The path before every route's path, such as `/v1`; empty by default.
    ///
    /// It is plain text like a `String` path, so `?`, `#` and `%` are data. A missing leading slash is added, and
    /// trailing slashes are removed.
    var basePath: String { get }

    /// Header fields of every request to this environment; none by default.
    var defaultHeaders: HTTPHeaders { get }
}

extension ApiEnvironment {
    /// HTTP without encryption.
    @inlinable public var scheme: HTTPScheme { .http }

    /// The scheme's default port.
    @inlinable public var port: Int? { scheme.defaultPort }

    /// No base path.
    @inlinable public var basePath: String { "" }

    /// No fields.
    public var defaultHeaders: HTTPHeaders { HTTPHeaders() }
}

extension ApiEnvironment where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    @inlinable public var host: String { rawValue }
}
