// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

extension TimerQueue {
    /// Waits until nothing waits any more in this queue.
    ///
    /// An action that the clock has started can add an entry after its call has ended. It removes that entry itself.
    func becomesEmpty(at location: SourceLocation = #_sourceLocation) async throws {
        await eventually(at: location) { entryCount == 0 }
        // After a failure, the other runs of a model would wait as long.
        try #require(entryCount == 0, sourceLocation: location)
    }
}
