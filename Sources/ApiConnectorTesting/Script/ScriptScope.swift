// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The scripts, recorders and replays of one test, which end with the test.
package final class ScriptScope: Sendable {
    /// The scope of the test that runs in this task.
    @TaskLocal package static var current: ScriptScope?

    /// Runs a body, and returns a text for each issue that it records.
    package typealias IssueCatching =
        @Sendable (_ body: @Sendable () async throws -> Void) async throws -> [String]

    package let name: String

    /// Catches the issues that the test's expectations record, so that they are reported together with the injected
    /// fault; nil without a testing library.
    let catching: IssueCatching?

    private struct Scripts {
        var engines: [ScriptEngine] = []
        var isOver = false

        /// Removes the next script to end.
        ///
        /// When no script is left, the scope counts as ended, so that scripts made later end at once.
        mutating func takeNext() -> ScriptEngine? {
            isOver = engines.isEmpty
            return isOver ? nil : engines.removeFirst()
        }
    }

    private let scripts = Locked(Scripts())
    private let members = Locked<[any ScopeMember]>([])
    private let clocks = Locked<[WeakClock]>([])
    private let onLateRequest: @Sendable (String) -> Void

    private struct WeakClock {
        weak var clock: ManualClock?
    }

    /// A sentence about the sleeps on the test's clocks that have not ended; nil if there are none.
    package var unfinishedSleeps: String? {
        let sleeps = clocks.withLock { $0.compactMap(\.clock) }.compactMap(\.unfinishedSleeps)
        return sleeps.isEmpty ? nil : "\(name) was canceled, and tasks still sleep: \(sleeps.joined(separator: "; "))."
    }

    /// Makes a scope.
    ///
    /// - Parameters:
    ///   - name: The scope's name in the error of a late request.
    ///   - catching: Catches the issues of a part of the test; nil by default.
    ///   - onLateRequest: Records the error text of a late request.
    package init(
        named name: String,
        catching: IssueCatching? = nil,
        onLateRequest: @escaping @Sendable (String) -> Void
    ) {
        self.name = name
        self.catching = catching
        self.onLateRequest = onLateRequest
    }

    /// Makes a script end with this scope.
    package func add<Router>(_ script: Script<Router>) {
        add(script.engine)
    }

    func add(_ engine: ScriptEngine) {
        let isOver = scripts.withLock { scripts in
            if !scripts.isOver { scripts.engines.append(engine) }
            return scripts.isOver
        }
        engine.ending.onLateRequest(onLateRequest)
        if isOver { engine.ending.note(name) }
    }

    func add(_ clock: ManualClock) {
        clocks.withLock { $0.append(WeakClock(clock: clock)) }
    }

    package func add(member: some ScopeMember) {
        members.withLock { $0.append(member) }
    }

    /// Ends the scope's scripts, including those that are made while the method waits, and then the recorders and
    /// replays.
    ///
    /// - Parameters:
    ///   - limit: The longest wait for running requests, per script.
    ///   - hasFailed: Whether the test threw an error. If so, unused answers are not issues, and no recording is saved.
    ///   - hasIssues: Whether the test failed in another way. If so, no recording is saved.
    package func end(waitingUpTo limit: Duration, hasFailed: Bool, hasIssues: Bool = false) async -> [TestIssue] {
        var issues: [TestIssue] = []
        while let engine = scripts.withLock({ $0.takeNext() }) {
            issues += await engine.end(scope: name, waitingUpTo: limit, includingUnused: !hasFailed)
        }
        let members = members.withLock { members in
            defer { members = [] }
            return members
        }
        let isGood = !hasFailed && !hasIssues && issues.isEmpty && members.allSatisfy(\.issues.isEmpty)
        return issues + members.flatMap { $0.end(hasFailed: !isGood) }
    }
}

/// An object that ends with a test, such as a recorder.
///
/// It ends after the scripts of the test.
public protocol ScopeMember: Sendable {
    /// The issues so far.
    var issues: [TestIssue] { get }

    /// Ends the member.
    ///
    /// - Parameter hasFailed: Whether the test has failed.
    /// - Returns: All issues of the member.
    func end(hasFailed: Bool) -> [TestIssue]
}
