// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import TestSupport
import Testing

@testable import ApiConnector

extension CurlProvider {
    /// Waits until at least a number of calls wait for a connection.
    func isAwaited(by count: Int, at location: SourceLocation = #_sourceLocation) async throws {
        let queue = try engine.startedQueue()
        await eventually(at: location) {
            let waitingCount = await withCheckedContinuation { continuation in
                // On the loop's thread, which has the count.
                queue.post(.readPending { continuation.resume(returning: queue.loop?.transfers.waitingCount ?? 0) })
            }
            return waitingCount >= count
        }
    }
}
#endif
