// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A limit for the requests to a host; see ``ApiConnector/DataRequestType/limiting(_:by:)``.
public struct RequestLimit: Sendable, Hashable {
    /// How many requests may be in flight at the same time; nil, the default, means no limit.
    ///
    /// A streamed response is in flight until its body has ended or is released.
    public var concurrent: Concurrency?

    /// How many requests may start in a duration; nil, the default, means no limit.
    public var rate: RequestRate?

    /// Whether a response's `Retry-After`, `RateLimit` and `X-RateLimit` fields delay further requests; true by
    /// default.
    public var heedsServer: Bool

    /// The longest delay that a server's fields can cause; 1 minute by default.
    ///
    /// If the server asks for a longer delay, the next request is sent after this time anyway.
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
