// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
