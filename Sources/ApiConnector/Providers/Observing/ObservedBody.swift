// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A body on its way that tells what becomes of it.
final class ObservedBody: ResponseBodySource {
    private let reader: ResponseBodyReader
    private let status: HTTPStatus
    private let request: ApiRequest
    private let events: CallEvents

    /// Takes over the body of a response; nil for one that is all there.
    init?(of response: ApiResponse, _ events: CallEvents) throws(ApiConnectorError) {
        guard let reader = response.body.reader else { return nil }
        try reader.claim()
        self.reader = reader
        self.status = response.status
        self.request = response.request
        self.events = events
    }

    var isLimitedInTime: Bool { reader.isLimitedInTime }

    func next() async throws(ApiConnectorError) -> Data? {
        do throws(ApiConnectorError) {
            guard let chunk = try await reader.next() else {
                events.finish(.answered(status), of: request)
                return nil
            }
            events.bytes(chunk.count, of: request)
            return chunk
        } catch {
            events.finish(.failed(error), of: request)
            throw error
        }
    }

    func cancel() {
        events.finish(.left(status), of: request)
        reader.cancel()
    }
}
