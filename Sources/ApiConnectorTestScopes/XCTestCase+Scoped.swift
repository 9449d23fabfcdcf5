// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
public import ApiConnectorTesting
public import XCTest

extension XCTestCase {
    /// Ends a script when this test ends, and reports its verdicts as failures at the lines where they arose.
    ///
    /// ```swift
    /// let script = scoped(Script(for: BlogRouter.self, in: .test))
    /// ```
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - limit: The longest wait for requests under way; a second by default.
    /// - Returns: The same script.
    public func scoped<Router>(
        _ script: Script<Router>,
        waitingUpTo limit: Duration = .seconds(1)
    ) -> Script<Router> {
        let scope = ScriptScope(named: "the test \(name)", onLateRequest: LateRequests.note)
        scope.add(script)
        addTeardownBlock {
            for verdict in await scope.end(waitingUpTo: limit, hasFailed: false) {
                XCTFail(verdict.description, file: verdict.place.filePath, line: verdict.place.line)
            }
        }
        return script
    }

    /// Saves what a recorder has recorded when this test ends, if it has passed, and reports what was not recorded as
    /// failures.
    ///
    /// ```swift
    /// let recorder = scoped(try Recorder(fixtures.appending(path: "tea.har")))
    /// ```
    ///
    /// - Parameter recorder: The recorder.
    /// - Returns: The same recorder.
    public func scoped(_ recorder: Recorder) -> Recorder {
        let scope = ScriptScope(named: "the test \(name)", onLateRequest: LateRequests.note)
        scope.add(recorder)
        // Its count is read when the test's own code has ended, and nobody else writes it any more.
        nonisolated(unsafe) let run = testRun
        addTeardownBlock {
            let hasFailed = run?.totalFailureCount != 0
            for verdict in await scope.end(waitingUpTo: .zero, hasFailed: hasFailed) {
                XCTFail(verdict.description, file: verdict.place.filePath, line: verdict.place.line)
            }
        }
        return recorder
    }
}
