// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ResponseBody {
    /// How reading a body ended.
    public enum End: Sendable {
        /// The last chunk was read.
        case finished
        /// Reading failed.
        case failed(ApiConnectorError)
        /// The reader stopped before the end, or the body was never read.
        case discarded
    }

    /// Returns this body with a closure that observes or changes each chunk, and a closure that is called at the end.
    ///
    /// Use it in a wrapper on ``ApiResponse/body``, and return the response with the new body. Nothing is read ahead,
    /// and a cancellation or a time limit ends the body as before.
    ///
    /// - Parameters:
    ///   - transform: Returns a chunk for each chunk; an empty result is skipped. A collected body is one chunk. An
    ///     error ends the body. Returns the chunk unchanged by default.
    ///   - onEnd: Called exactly once, on any thread; immediately for a collected body. If the body was already read,
    ///     this function throws and does not call it. Does nothing by default.
    /// - Throws: ``ApiConnectorError``: the error of `transform` for a collected body; of kind `.other` for a body that
    ///   was already read.
    public func transformed(
        _ transform: @escaping @Sendable (Data) throws(ApiConnectorError) -> Data = { $0 },
        onEnd: @escaping @Sendable (End) -> Void = { _ in }
    ) throws(ApiConnectorError) -> ResponseBody {
        guard let reader else {
            do {
                let data = collected ?? Data()
                let body = data.isEmpty ? self : ResponseBody(try transform(data))
                onEnd(.finished)
                return body
            } catch {
                onEnd(.failed(error))
                throw error
            }
        }
        return ResponseBody(source: try TransformedBody(reader, transform, onEnd))
    }
}

/// A streamed body whose chunks pass through a wrapper's closures.
private final class TransformedBody: ResponseBodySource {
    private let reader: ResponseBodyReader
    private let transform: @Sendable (Data) throws(ApiConnectorError) -> Data
    private let onEnd: Locked<(@Sendable (ResponseBody.End) -> Void)?>

    init(
        _ reader: ResponseBodyReader,
        _ transform: @escaping @Sendable (Data) throws(ApiConnectorError) -> Data,
        _ onEnd: @escaping @Sendable (ResponseBody.End) -> Void
    ) throws(ApiConnectorError) {
        try reader.claim()
        self.reader = reader
        self.transform = transform
        self.onEnd = Locked(onEnd)
    }

    var isWatched: Bool { reader.isWatched }

    func next() async throws(ApiConnectorError) -> Data? {
        do throws(ApiConnectorError) {
            while let chunk = try await reader.next() {
                let transformed = try transform(chunk)
                if !transformed.isEmpty { return transformed }
            }
            end(.finished)
            return nil
        } catch {
            reader.cancel()
            end(.failed(error))
            throw error
        }
    }

    func cancel() {
        // Takes `onEnd` first, so that a pending `next()` does not report a failure. Calls it when the transfer has
        // ended.
        let onEnd = onEnd.withLock { $0.take() }
        reader.cancel()
        onEnd?(.discarded)
    }

    private func end(_ end: ResponseBody.End) {
        onEnd.withLock { $0.take() }?(end)
    }
}
