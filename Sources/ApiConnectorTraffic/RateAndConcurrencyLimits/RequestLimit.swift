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

extension RequestLimit {
    /// A concurrency limit: a fixed number of requests in flight, or a number that adapts to the server's capacity.
    ///
    /// ```swift
    /// RequestLimit(concurrent: 6)
    /// RequestLimit(concurrent: .adaptive(in: 4...200))
    /// ```
    public struct Concurrency: Sendable, Hashable, ExpressibleByIntegerLiteral {
        /// The smallest and the largest limit; both are equal if the limit is fixed.
        public let range: ClosedRange<Int>

        /// The limit at the beginning.
        public let initialCount: Int

        /// How many times slower than the fastest responses a response may be before the limit decreases; nil if only
        /// failures decrease the limit.
        public let latencyTolerance: Double?

        /// Whether the limit changes.
        public var isAdaptive: Bool { range.lowerBound < range.upperBound }

        /// A limit that does not change.
        ///
        /// - Parameter count: The number of requests; at least 1.
        public static func fixed(_ count: Int) -> Concurrency {
            Concurrency(range: max(count, 1)...max(count, 1), initialCount: max(count, 1), latencyTolerance: nil)
        }

        /// A limit that follows the server's capacity, by additive increase and multiplicative decrease, as TCP's
        /// congestion control (RFC 5681) does.
        ///
        /// - It starts at `initialCount` and doubles per round trip until the first decrease.
        /// - Then it increases by 1 per round trip, or by 1/32 of the limit while the limit is below 32. After 9 round
        ///   trips without a decrease, each step is larger than the one before, so that the limit soon follows a
        ///   growing capacity.
        /// - It increases only if requests have waited for it.
        /// - It decreases to 90 %, by at least 1, for a response with status 429 or 503 or with 403 and `Retry-After`,
        ///   and for an error of kind `.timedOut`, `.stalled`, `.cannotConnect` or `.connectionLost`.
        /// - With `latencyTolerance` it also decreases, to between 50 % and 90 %, after a round trip in which all
        ///   responses were slow.
        /// - It decreases at most once per round trip.
        ///
        /// The limit stays within 10 % of the server's capacity for concurrent requests, and clients of one server get
        /// equal shares. Failures that have a cause other than overload also decrease the limit. For example, if one of
        /// 100 requests fails, the limit stays at about a third of a capacity of 100. Choose the lower bound
        /// accordingly.
        ///
        /// - Parameters:
        ///   - range: The smallest and the largest limit, at least 1; 1 to 1,000 by default.
        ///   - initialCount: The limit at the beginning; 10 by default.
        ///   - latencyTolerance: How many times slower than the fastest responses a response may be; a streamed
        ///     response counts when its head arrives. Nil, the default, is for servers that refuse requests above their
        ///     capacity. A number such as 1.5 is for servers that queue such requests; 1.5 allows a queue of half the
        ///     capacity. Values below 1.1 count as 1.1. To measure the latency without a queue, 2 of 100 round trips
        ///     have half the limit.
        public static func adaptive(
            in range: ClosedRange<Int> = 1...1000,
            initialCount: Int = 10,
            latencyTolerance: Double? = nil
        ) -> Concurrency {
            let lower = max(range.lowerBound, 1)
            let range = lower...max(range.upperBound, lower)
            return Concurrency(
                range: range,
                initialCount: min(max(initialCount, range.lowerBound), range.upperBound),
                latencyTolerance: latencyTolerance.map { $0 > 1.1 ? $0 : 1.1 }
            )
        }

        /// A limit that does not change: ``fixed(_:)``.
        public init(integerLiteral count: Int) {
            self = .fixed(count)
        }

        private init(range: ClosedRange<Int>, initialCount: Int, latencyTolerance: Double?) {
            self.range = range
            self.initialCount = initialCount
            self.latencyTolerance = latencyTolerance
        }
    }
}
