// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import Testing

/// Waits until a condition holds, and lets other tasks run in between; records an issue after ten minutes.
package func eventually(
    at location: SourceLocation = #_sourceLocation,
    _ condition: () async -> Bool
) async {
    let end = ContinuousClock.now + .seconds(600)
    while await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("the condition did not become true", sourceLocation: location)
            return
        }
        await Task.yield()
    }
}
