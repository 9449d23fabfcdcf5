// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import ApiConnectorTesting
public import Testing

/// Compares what the scripts of a suite have answered with a recording, and records the differences as the suite's
/// issues.
///
/// ```swift
/// @Suite(.scripted, .contract(with: fixtures.appending(path: "blog.har"))) struct BlogTests { … }
/// ```
///
/// See ``/ApiConnectorTesting/Contract``. A run of some of the suite's tests alone may miss fields that others answer
/// with.
public struct ContractTrait: SuiteTrait, TestScoping {
    let file: URL
    let ignored: Set<String>

    /// Runs a suite, and compares when its last test has ended.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let contract = Contract(try Recording(contentsOf: file), ignoring: ignored)
        try await GivenAnswer.$collector.withValue(contract.collect, operation: function)
        for issue in contract.issues {
            Issue.record(Comment(rawValue: issue.description), sourceLocation: SourceLocation(issue.place))
        }
    }
}

extension Trait where Self == ContractTrait {
    /// Compares what the scripts of the suite have answered with a recording.
    ///
    /// - Parameters:
    ///   - file: A file of HAR 1.2.
    ///   - ignored: Fields that are not compared, such as `items[].note`; none by default.
    public static func contract(with file: URL, ignoring ignored: Set<String> = []) -> Self {
        ContractTrait(file: file, ignored: ignored)
    }
}
