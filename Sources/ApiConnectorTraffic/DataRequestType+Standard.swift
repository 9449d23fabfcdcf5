// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension DataRequestType {
    /// Returns this provider, wrapped with retries, a cache and deduplication.
    ///
    /// Wrap the result with credentials and an observer.
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .standard(cachedIn: MemoryCacheStorage())
    ///     .authenticating(by: session)
    ///     .observing(by: log)
    /// ```
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is retried; `RetryPolicy.standard` by default.
    ///   - storage: The storage for responses.
    public func standard(
        _ policy: RetryPolicy = .standard,
        cachedIn storage: some CacheStorage
    ) -> some DataRequestType {
        standard(policy).deduplicating().caching(in: storage)
    }
}
