// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A streamed body with the time limits of its attempt.
///
/// The attempt's limit and the call's deadline also run while no reader waits. When one of them is reached, the
/// transfer ends, and buffered data is discarded. The stall limit runs only while a reader waits for data.
final class WatchedBody: ResponseBodySource {
    private struct State {
        /// The number that `AttemptWatch.attach` returned for the reader.
        var number: Int?
        /// The error of the limit that was reached.
        var reason: ApiConnectorError?
    }

    private let reader: ResponseBodyReader
    private let request: ApiRequest
    private let watch: AttemptWatch
    private let state = Locked(State())

    /// Takes over the body of a response, and the watch, which ends with the body.
    init(_ reader: ResponseBodyReader, of request: ApiRequest, watch: AttemptWatch) throws(ApiConnectorError) {
        try reader.claim()
        self.reader = reader
        self.request = request
        self.watch = watch
        let number = watch.attach(appliesStall: false) { [weak self] in self?.stop($0) }
        state.withLock { $0.number = number }
    }

    var isWatched: Bool { true }

    func next() async throws(ApiConnectorError) -> Data? {
        let number = state.withLock { $0.number }
        if let number { watch.applyStall(true, of: number) }
        let result: Result<Data?, ApiConnectorError>
        do throws(ApiConnectorError) {
            result = .success(try await reader.next())
        } catch {
            result = .failure(error)
        }
        if let number { watch.applyStall(false, of: number) }
        if let reason = state.withLock({ $0.reason }) {
            watch.end()
            throw reason
        }
        if case .success(.some) = result {} else { watch.end() }
        return try result.get()
    }

    func cancel() {
        watch.end()
        reader.cancel()
    }

    private func stop(_ reason: ApiConnectorError) {
        state.withLock { $0.reason = $0.reason ?? reason.completed(request: request) }
        reader.cancel()
    }
}
