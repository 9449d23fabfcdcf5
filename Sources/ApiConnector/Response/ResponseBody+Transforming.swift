// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ResponseBody {
    /// How the reading of a body ended.
    public enum End: Sendable {
        /// The last chunk was read.
        case finished
        /// Reading failed.
        case failed(ApiConnectorError)
        /// The reader stopped before the end, or nobody has read the body.
        case discarded
    }

    /// This body, with code that sees or changes each chunk as it is read, and that learns of the end.
    ///
    /// It is for wrappers. A wrapper uses it on ``ApiResponse/body`` and hands the response on. Nothing is read ahead, and a
    /// cancellation or a limit of time ends the body as before.
    ///
    /// - Parameters:
    ///   - transform: Makes a chunk of a chunk; an empty one is left out. It hands each on by default. A body that is all
    ///     there is one chunk. What it throws ends the body.
    ///   - onEnd: Called exactly once, on any thread; at once for a body that is all there, and never for one that was read
    ///     before. Nothing by default.
    /// - Throws: ``ApiConnectorError``: what `transform` throws for a body that is all there; of kind `.other` for one that
    ///   was read before.
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

/// A body on its way whose chunks pass through code of a wrapper.
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

    var isLimitedInTime: Bool { reader.isLimitedInTime }

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
        // Nobody else tells of the end, and the transfer is over when it is told.
        let onEnd = onEnd.withLock { $0.take() }
        reader.cancel()
        onEnd?(.discarded)
    }

    private func end(_ end: ResponseBody.End) {
        onEnd.withLock { $0.take() }?(end)
    }
}
