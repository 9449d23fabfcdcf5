// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
public import Testing

/// Ends the scripts that a test makes when the test ends, and records their issues as its issues; saves what a
/// recorder has recorded, of a test that has passed.
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
/// An issue is recorded at the line where the answer was declared. A test that threw an error is not blamed for
/// answers that it then did not ask for. What an expectation finds inside `FaultTest.everySingleFault` and its like is told with
/// its fault.
public struct ScriptedTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration

    /// Yes: each test of a suite has its own scope.
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
                try await ScriptScope.$current.withValue(scope, operation: function)
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

    /// What a body's expectations find; the test itself knows of it as known issues.
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
    /// Ends the scripts that a test makes with it, and waits up to a second for requests under way.
    public static var scripted: Self { .scripted(waitingUpTo: .seconds(1)) }

    /// Ends the scripts that a test makes with it.
    ///
    /// - Parameter limit: The longest wait for requests under way.
    public static func scripted(waitingUpTo limit: Duration) -> Self { ScriptedTrait(limit: limit) }
}

/// Whether a test has recorded an issue.
private final class IssueFlag: Sendable {
    private let flag = Locked(false)

    var isSet: Bool { flag.withLock { $0 } }

    /// Runs a test, and looks at its issues as they are recorded; they stay as they are.
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
    /// Whether it makes its test fail.
    fileprivate var countsAsFailure: Bool { isFailure }
}

extension SourceLocation {
    init(_ place: CodeLocation) {
        self.init(fileID: place.fileID, filePath: "\(place.filePath)", line: Int(place.line), column: 1)
    }
}
