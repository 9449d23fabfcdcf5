// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector
import ApiConnectorContracts
import ApiConnectorRecording
import ApiConnectorTestScopes
import ApiConnectorTesting
public import Testing

/// Compares the exchanges of a suite's scripts with a recording or an OpenAPI document, and records the differences as
/// issues.
///
/// ```swift
/// @Suite(.scripted, .contract(openAPI: fixtures.appending(path: "blog.json"))) struct BlogTests { … }
/// @Suite(.scripted, .contract(with: fixtures.appending(path: "blog.har"))) struct BlogTests { … }
/// ```
///
/// See ``/ApiConnectorContracts/Contract``. A violation of a document is an issue of the test whose script contains the
/// violation. A difference from a recording is an issue of the suite. If only some tests of the suite run, fields that
/// occur only in the answers of other tests are reported as missing.
public struct ContractTrait: SuiteTrait, TestScoping {
    let makeContract: @Sendable () throws -> Contract

    /// Runs a suite, and compares the exchanges after its last test.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let contract = try makeContract()
        try await ScriptExchange.$collector.withValue(contract.collect, operation: function)
        for issue in contract.issues {
            Issue.record(Comment(rawValue: issue.description), sourceLocation: SourceLocation(issue.place))
        }
    }
}

extension Trait where Self == ContractTrait {
    /// Compares the canned responses of the suite's scripts with a recording.
    ///
    /// - Parameters:
    ///   - file: A file of HAR 1.2.
    ///   - ignored: Fields that are not compared, such as `items[].note`; none by default.
    public static func contract(with file: URL, ignoring ignored: Set<String> = []) -> Self {
        ContractTrait { Contract(try Recording(contentsOf: file), ignoring: ignored) }
    }

    /// Checks the requests that the suite's scripts receive, and their canned responses, against an OpenAPI document.
    ///
    /// - Parameters:
    ///   - file: A document of OpenAPI 3.0, 3.1 or 3.2 in JSON.
    ///   - ignored: JSON pointers in the document that are not checked; none by default.
    public static func contract(openAPI file: URL, ignoring ignored: Set<String> = []) -> Self {
        ContractTrait { try Contract(openAPI: file, ignoring: ignored) }
    }
}
