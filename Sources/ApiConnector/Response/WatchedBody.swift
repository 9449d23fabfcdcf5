// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A streamed body whose reading is a part of the attempt: its limits of time hold until its end.
///
/// Silence counts only while somebody waits for a chunk.
final class WatchedBody: ResponseBodySource {
    private let reader: ResponseBodyReader
    private let request: ApiRequest
    private let watch: AttemptWatch

    init(_ reader: ResponseBodyReader, of request: ApiRequest, _ watch: AttemptWatch) {
        self.reader = reader
        self.request = request
        self.watch = watch
    }

    deinit {
        watch.end()
    }

    func next() async throws(ApiConnectorError) -> Data? {
        let reason = StopReason()
        let result = await request.withStopHandler { () async -> Result<Data?, ApiConnectorError> in
            do throws(ApiConnectorError) {
                return .success(try await reader.next())
            } catch {
                return .failure(error)
            }
        } onStop: { [reader] in
            reason.error = $0
            reader.cancel()
        }
        if let error = reason.error {
            watch.end()
            throw error
        }
        let chunk = try result.get()
        if chunk == nil { watch.end() }
        return chunk
    }

    func cancel() {
        reader.cancel()
        watch.end()
    }
}

/// Why a body was not read to its end.
final class StopReason: Sendable {
    private let first = Locked<ApiConnectorError?>(nil)

    /// The first reason that was set.
    var error: ApiConnectorError? {
        get { first.withLock { $0 } }
        set { first.withLock { $0 = $0 ?? newValue } }
    }
}
