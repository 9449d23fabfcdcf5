// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
public import ApiConnectorTesting
public import XCTest

extension XCTestCase {
    /// Ends a script when this test ends, and reports its issues as failures at the lines where they arose.
    ///
    /// ```swift
    /// let script = scoped(Script(for: BlogRouter.self, in: .test))
    /// ```
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - limit: The longest wait for running requests; one second by default. If a test has several scripts, the
    ///     longest limit counts.
    /// - Returns: The same script.
    public func scoped<Router>(
        _ script: Script<Router>,
        waitingUpTo limit: Duration = .seconds(1)
    ) -> Script<Router> {
        scope(waitingUpTo: limit).add(script)
        return script
    }

    /// Ends an object when this test ends, after the test's scripts, and reports its issues as failures.
    ///
    /// A recorder saves its recording if the test passed and its scripts have no issue. Requests that are missing from
    /// the recording are failures.
    ///
    /// ```swift
    /// let recorder = scoped(try Recorder(fixtures.appending(path: "tea.har")))
    /// ```
    ///
    /// - Parameter member: The object, such as a recorder of ApiConnectorRecording.
    /// - Returns: The same object.
    public func scoped<Member: ScopeMember>(_ member: Member) -> Member {
        scope(waitingUpTo: .zero).add(member: member)
        return member
    }

    /// The scope of this test, which ends with the test.
    ///
    /// Scripts and recorders share it, so that recorders end last.
    private func scope(waitingUpTo limit: Duration) -> ScriptScope {
        let key = ObjectIdentifier(self)
        let (scope, isNew) = RunningScopes.all.withLock { scopes in
            let known = scopes[key]
            let scope = known?.scope ?? ScriptScope(named: "the test \(name)", onLateRequest: LateRequests.note)
            scopes[key] = (scope, max(known?.limit ?? .zero, limit))
            return (scope, known == nil)
        }
        guard isNew else { return scope }
        // The run is read after the test's own code has ended, when no code writes the count anymore.
        nonisolated(unsafe) let run = testRun
        addTeardownBlock {
            guard let (scope, limit) = RunningScopes.all.withLock({ $0.removeValue(forKey: key) }) else { return }
            let hasIssues = run?.totalFailureCount != 0
            // If the test threw an error, unused answers are not issues.
            let hasFailed = run?.unexpectedExceptionCount != 0
            for issue in await scope.end(waitingUpTo: limit, hasFailed: hasFailed, hasIssues: hasIssues) {
                XCTFail(issue.description, file: issue.place.filePath, line: issue.place.line)
            }
        }
        return scope
    }
}

/// The scopes of the running tests.
///
/// A scope exists from its test's first script or recorder to the test's end.
private enum RunningScopes {
    static let all = Locked<[ObjectIdentifier: (scope: ScriptScope, limit: Duration)]>([:])
}
