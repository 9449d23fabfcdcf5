// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The scripts, recorders and replays of one test: made inside it, ended with it.
package final class ScriptScope: Sendable {
    /// The scope of the test that runs in this task.
    @TaskLocal package static var current: ScriptScope?

    /// Runs a body and gives a text for each issue that was recorded meanwhile.
    package typealias IssueCatching =
        @Sendable (_ body: @Sendable () async throws -> Void) async throws -> [String]

    package let name: String

    /// Takes what the test's expectations find, so that it can be told with its fault; nil without a testing library.
    let catching: IssueCatching?

    private struct Scripts {
        var engines: [ScriptEngine] = []
        var isOver = false

        /// The next one to end; once there is none, whatever is made later has ended already.
        mutating func takeNext() -> ScriptEngine? {
            isOver = engines.isEmpty
            return isOver ? nil : engines.removeFirst()
        }
    }

    private let scripts = Locked(Scripts())
    private let members = Locked<[any ScopeMember]>([])
    private let onLateRequest: @Sendable (String) -> Void

    /// Makes a scope.
    ///
    /// - Parameters:
    ///   - name: What the error of a late request calls it.
    ///   - catching: What takes the issues of a part of the test; nobody by default.
    ///   - onLateRequest: What records the text of a late request.
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

    func add(member: some ScopeMember) {
        members.withLock { $0.append(member) }
    }

    /// Ends its scripts, those included that are made while it waits; then, when it is known how the test ended, its
    /// recorders and replays.
    ///
    /// - Parameters:
    ///   - limit: The longest wait for requests under way, of each script.
    ///   - hasFailed: Whether the test has ended by an error; what it then did not ask for is no issue.
    ///   - hasIssues: Whether it has failed otherwise; then, too, nothing is recorded.
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
