// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A body that keeps its request's place until it has ended, failed or been let go.
final class HeldBody: ResponseBodySource {
    private let reader: ResponseBodyReader
    private let slot: LimitSlot

    init(_ reader: ResponseBodyReader, _ slot: LimitSlot) throws(ApiConnectorError) {
        try reader.claim()
        self.reader = reader
        self.slot = slot
    }

    var isLimitedInTime: Bool { reader.isLimitedInTime }

    func next() async throws(ApiConnectorError) -> Data? {
        do throws(ApiConnectorError) {
            let chunk = try await reader.next()
            if chunk == nil { slot.release() }
            return chunk
        } catch {
            slot.release()
            throw error
        }
    }

    func cancel() {
        reader.cancel()
        slot.release()
    }
}
