// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a connection does with a redirect.
public struct RedirectPolicy: Sendable {
    /// What to do with one redirect.
    public enum Decision: Sendable {
        /// Send this request.
        case follow(ApiRequest)
        /// Take the redirect itself as the response.
        case deliver
        /// Fail with kind `.redirectRefused`.
        case refuse
    }

    /// How many redirects one call follows; past it the call fails with kind `.tooManyRedirects`.
    public let limit: Int

    let allowsInsecure: Bool
    /// Nil takes every redirect as the response, whatever it says.
    let decide: (@Sendable (ApiResponse, ApiRequest) async -> Decision)?

    /// Follows up to 20 redirects, never from https to http; the default.
    public static let standard = RedirectPolicy.follow(upTo: 20)

    /// Follows redirects.
    ///
    /// - Parameters:
    ///   - limit: How many in one call; 20 by default.
    ///   - allowsInsecure: Whether one from https to http is followed; no by default.
    public static func follow(upTo limit: Int = 20, allowsInsecure: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsInsecure: allowsInsecure) { .follow($1) }
    }

    /// Follows none: the redirect itself is the response, which the standard validation does not accept.
    public static let never = RedirectPolicy(limit: 0, allowsInsecure: false, decide: nil)

    /// Asks for each redirect, with the response and the request that following it would send.
    ///
    /// Credentials for another origin are gone from that request already. A redirect that cannot be followed (without a
    /// location, to no http URL, from https to http, with a body that cannot be sent again) fails before it is asked.
    public static func ask(
        upTo limit: Int = 20,
        allowsInsecure: Bool = false,
        _ decide: @escaping @Sendable (ApiResponse, ApiRequest) async -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsInsecure: allowsInsecure, decide: decide)
    }
}
