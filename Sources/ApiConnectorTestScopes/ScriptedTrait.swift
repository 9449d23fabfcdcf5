// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
public import Testing

/// Ends the scripts that a test makes when the test ends, and records their verdicts as its issues.
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
/// A verdict is recorded at the line where the answer was declared. A test that threw an error is not blamed for answers
/// that it then did not ask for. What an expectation finds inside `everySingleFault` and its like is told with its fault.
public struct ScriptedTrait: TestTrait, SuiteTrait, TestScoping {
    let limit: Duration

    /// Yes: each test of a suite has a scope of its own.
    public var isRecursive: Bool { true }

    /// Runs a test in a scope of its own.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = ScriptScope(named: "the test \(test.name)", onLateRequest: LateRequests.note)
        let result: Result<Void, any Error>
        do {
            let value: Void = try await IssueCatcher.$current.withValue(Self.issues) {
                try await ScriptScope.$current.withValue(scope, operation: function)
            }
            result = .success(value)
        } catch {
            result = .failure(error)
        }
        var hasFailed = false
        if case .failure = result { hasFailed = true }
        for verdict in await scope.end(waitingUpTo: limit, hasFailed: hasFailed) {
            Issue.record(Comment(rawValue: verdict.description), sourceLocation: SourceLocation(verdict.place))
        }
        try result.get()
    }

    /// What a body's expectations find; the test itself knows of it as known issues.
    @Sendable
    private static func issues(of body: @Sendable () async throws -> Void) async throws -> [String] {
        let texts = Locked<[String]>([])
        var failure: (any Error)?
        await withKnownIssue("It is told with the run that it was found in.", isIntermittent: true) {
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

extension SourceLocation {
    fileprivate init(_ place: SourcePlace) {
        self.init(fileID: place.fileID, filePath: "\(place.filePath)", line: Int(place.line), column: 1)
    }
}
