// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// How a connection handles redirects.
public struct RedirectPolicy: Sendable {
    /// How to handle one redirect.
    public enum Decision: Sendable {
        /// Send this request.
        case follow(ApiRequest)
        /// Return the redirect itself as the response.
        case deliver
        /// Fail with kind `.redirectRefused`.
        case refuse
    }

    /// The maximum number of redirects per call.
    ///
    /// A call with more redirects fails with kind `.tooManyRedirects`.
    public let limit: Int

    let allowsInsecure: Bool
    /// Decides about a redirect; nil returns every redirect as the response.
    let decide: (@Sendable (ApiResponse, ApiRequest) async -> Decision)?

    /// Follows up to 20 redirects, but none from https to http; the default.
    public static let standard = RedirectPolicy.follow(upTo: 20)

    /// Follows redirects.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects per call; 20 by default.
    ///   - allowsInsecure: Whether to follow redirects from https to http; false by default.
    public static func follow(upTo limit: Int = 20, allowsInsecure: Bool = false) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsInsecure: allowsInsecure) { .follow($1) }
    }

    /// Follows no redirects: the redirect is the response, which the standard validation rejects.
    public static let never = RedirectPolicy(limit: 0, allowsInsecure: false, decide: nil)

    /// Calls a closure for each redirect, with the response and the request that would follow it.
    ///
    /// If the redirect leads to another origin, credentials are already removed from that request. The call fails
    /// without calling the closure if the redirect cannot be followed:
    ///
    /// - The response has no location, or a location that is not an http or https URL.
    /// - The redirect leads from https to http, and `allowsInsecure` is false.
    /// - The request's body cannot be sent again.
    public static func ask(
        upTo limit: Int = 20,
        allowsInsecure: Bool = false,
        _ decide: @escaping @Sendable (ApiResponse, ApiRequest) async -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(limit: limit, allowsInsecure: allowsInsecure, decide: decide)
    }
}
