// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// How much a host is asked; see ``ApiConnector/DataRequestType/limiting(_:by:)``.
public struct RequestLimit: Sendable, Hashable {
    /// How many requests may be in flight at the same time; nil, the default, is without limit.
    ///
    /// A streamed response is in flight until its body has ended or is released.
    public var concurrent: Concurrency?

    /// How many requests may start in a time; nil, the default, is without limit.
    public var rate: RequestRate?

    /// Whether a response's `Retry-After`, `RateLimit` and `X-RateLimit` fields hold further requests back; they do by
    /// default.
    public var heedsServer: Bool

    /// The longest that a server's fields hold requests back; 1 minute by default.
    ///
    /// Where it asks for more, it is asked again after this.
    public var maximumServerHold: Duration

    /// Makes a limit.
    public init(
        concurrent: Concurrency? = nil,
        rate: RequestRate? = nil,
        heedsServer: Bool = true,
        maximumServerHold: Duration = .seconds(60)
    ) {
        self.concurrent = concurrent
        self.rate = rate
        self.heedsServer = heedsServer
        self.maximumServerHold = maximumServerHold
    }
}
