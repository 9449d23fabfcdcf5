// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// An object that ends with a test scope, after the scope's scripts, such as a recorder.
protocol ScopeMember: Sendable {
    /// The issues so far.
    var issues: [TestIssue] { get }

    /// Ends the member.
    ///
    /// - Parameter hasFailed: Whether the test has failed.
    /// - Returns: All of its issues.
    func end(hasFailed: Bool) -> [TestIssue]
}
