// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
package import ApiConnectorTesting
public import Testing

/// Ends a test's scripts when the test ends, and records their issues as issues of the test.
///
/// If the test passed, it also saves the test's recordings.
///
/// ```swift
/// @Suite(.scripted) struct BlogTests {
///     @Test func showsMe() async throws {
///         let script = Script(for: BlogRouter.self, in: .test)
///         …
///     }
/// }
/// ```
///
/// An issue is recorded at the line where the answer was declared. If the test threw an error, unused answers are not
/// reported. If a test exceeds its time limit, a warning lists the sleeps on its `ManualClock`s that have not ended. If
/// an expectation fails inside `FaultTest.everySingleFault` or a similar method, the failure is reported
/// together with the fault.
public struct ScriptedTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration

    /// `true`: each test of a suite has its own scope.
    public var isRecursive: Bool { true }

    /// Runs a test in its own scope.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = ScriptScope(
            named: "the test \(test.name)",
            catching: Self.issues,
            onLateRequest: LateRequests.note
        )
        let hasIssues = IssueFlag()
        let result: Result<Void, any Error>
        do {
            try await hasIssues.watch(test, testCase) {
                // A test that has exceeded its time limit is canceled. It may still wait for a task that sleeps on a
                // clock which the test no longer advances.
                try await withTaskCancellationHandler {
                    try await ScriptScope.$current.withValue(scope, operation: function)
                } onCancel: {
                    guard let sleeps = scope.unfinishedSleeps else { return }
                    Issue.record(Comment(rawValue: sleeps), severity: .warning)
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        var hasFailed = false
        if case .failure = result { hasFailed = true }
        for issue in await scope.end(waitingUpTo: limit, hasFailed: hasFailed, hasIssues: hasIssues.isSet) {
            Issue.record(Comment(rawValue: issue.description), sourceLocation: SourceLocation(issue.place))
        }
        try result.get()
    }

    /// Runs a body, and returns the issues that the body's expectations record.
    ///
    /// In the test itself, these issues count as known issues.
    @Sendable
    private static func issues(of body: @Sendable () async throws -> Void) async throws -> [String] {
        let texts = Locked<[String]>([])
        var failure: (any Error)?
        await withKnownIssue("The fault run reports this issue.", isIntermittent: true) {
            do {
                try await body()
            } catch {
                failure = error
            }
        } matching: { issue in
            texts.withLock { $0.append(String(describing: issue)) }
            return true
        }
        if let failure { throw failure }
        return texts.withLock { $0 }
    }
}

extension Trait where Self == ScriptedTrait {
    /// Ends a test's scripts when the test ends, and waits up to one second for running requests.
    public static var scripted: Self { .scripted(waitingUpTo: .seconds(1)) }

    /// Ends a test's scripts when the test ends.
    ///
    /// - Parameter limit: The longest wait for running requests.
    public static func scripted(waitingUpTo limit: Duration) -> Self { ScriptedTrait(limit: limit) }
}

/// Whether a test has recorded an issue that makes it fail.
private final class IssueFlag: Sendable {
    private let flag = Locked(false)

    var isSet: Bool { flag.withLock { $0 } }

    /// Runs a test and observes the issues that it records, without changing them.
    func watch(
        _ test: Test,
        _ testCase: Test.Case?,
        _ body: @Sendable () async throws -> Void
    ) async throws {
        let watch: IssueHandlingTrait = .compactMapIssues { [self] issue in
            if issue.countsAsFailure { flag.withLock { $0 = true } }
            return issue
        }
        try await watch.provideScope(for: test, testCase: testCase, performing: body)
    }
}

extension Issue {
    /// Whether the issue makes its test fail.
    fileprivate var countsAsFailure: Bool { isFailure }
}

extension SourceLocation {
    package init(_ place: CodeLocation) {
        self.init(fileID: place.fileID, filePath: "\(place.filePath)", line: Int(place.line), column: 1)
    }
}

/// The requests of this run that reached a script after its test had ended.
///
/// Each of these requests failed, and its error was printed to standard error. A test that runs last can check this
/// list.
package enum LateRequests {
    private static let texts = Locked<[String]>([])

    /// One sentence per request, in order of arrival.
    package static var all: [String] { texts.withLock { $0 } }

    static func note(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
