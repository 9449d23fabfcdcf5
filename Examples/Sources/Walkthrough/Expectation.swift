// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A difference from the walk's expectation.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
}

extension Unexpected {
    /// The error for an outcome in the wrong state.
    init<Value, Failure>(of outcome: ApiOutcome<Value, Failure>) {
        switch outcome {
        case .success(let value): self.init(description: "the call returned the value \(value)")
        case .backendFailure(let failure, _): self.init(description: "the backend reported \(failure)")
        case .failure(let error): self.init(description: error.description)
        }
    }
}

/// Compares a value with the expected value.
///
/// - Throws: ``Unexpected``, which shows both values.
func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws(Unexpected) {
    guard value != expected else { return }
    throw Unexpected(description: "\(what) should be \(expected), but is \(value)")
}
