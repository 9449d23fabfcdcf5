// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Something was not as the walk expects.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
}

extension Unexpected {
    /// What to throw for an outcome in the wrong state.
    init<Value, Failure>(of outcome: ApiOutcome<Value, Failure>) {
        switch outcome {
        case .success(let value): self.init(description: "it came to the value \(value)")
        case .backendFailure(let failure, _): self.init(description: "the backend reported \(failure)")
        case .failure(let error): self.init(description: error.description)
        }
    }
}

/// Compares what came with what should have come.
///
/// - Throws: ``Unexpected``, which says both.
func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws(Unexpected) {
    guard value != expected else { return }
    throw Unexpected(description: "\(what) should be \(expected), and is \(value)")
}
