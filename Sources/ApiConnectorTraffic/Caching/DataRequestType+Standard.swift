// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

extension DataRequestType {
    /// This provider with retries, a cache, and one request for calls that ask the same at the same time.
    ///
    /// Credentials and an observer go around it.
    ///
    /// ```swift
    /// let provider = SystemProvider()
    ///     .standard(cachedIn: MemoryCacheStorage())
    ///     .authenticating(by: session)
    ///     .observing(by: log)
    /// ```
    ///
    /// - Parameters:
    ///   - policy: When and how often a request is sent again; `RetryPolicy.standard` by default.
    ///   - storage: Where responses are kept.
    public func standard(
        _ policy: RetryPolicy = .standard,
        cachedIn storage: some CacheStorage
    ) -> some DataRequestType {
        standard(policy).deduplicating().caching(in: storage)
    }
}
