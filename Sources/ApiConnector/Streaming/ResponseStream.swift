// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The values of a call, as they come.
///
/// Cold: making it sends nothing, iterating it sends the request, iterating it again sends it again. It is pulled, so
/// nothing is read ahead of the loop. Leaving the loop, or cancelling its task, ends the call.
public struct ResponseStream<Element: Sendable>: AsyncSequence, Sendable {
    /// What every stream fails with.
    public typealias Failure = ApiConnectorError

    private let load: @Sendable () async throws(ApiConnectorError) -> Element

    init(_ load: @escaping @Sendable () async throws(ApiConnectorError) -> Element) {
        self.load = load
    }

    /// Hands out the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var load: (@Sendable () async throws(ApiConnectorError) -> Element)?

        /// The next value; nil at the end.
        ///
        /// - Throws: ``ApiConnectorError``; after an error the stream has ended.
        public mutating func next() async throws(ApiConnectorError) -> Element? {
            guard let load = load.take() else { return nil }
            return try await load()
        }
    }

    /// Starts the call with its first `next()`.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(load: load)
    }
}
