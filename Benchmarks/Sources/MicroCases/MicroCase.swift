// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A part of the library, and the reference with which it is compared in the same run.
///
/// The reference is minimal code that does the same by hand.
package struct MicroCase: Sendable {
    /// The same work done by hand.
    ///
    /// Cases with the same reference share its name.
    package struct Reference: Sendable {
        package let name: String
        package let pass: @Sendable () async throws -> Void

        init(_ name: String, _ pass: @escaping @Sendable () async throws -> Void) {
            self.name = name
            self.pass = pass
        }
    }

    package let name: String
    package let reference: Reference
    /// One pass, which does the same amount of work as a pass of the reference.
    package let pass: @Sendable () async throws -> Void

    init(_ name: String, against reference: Reference, _ pass: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.reference = reference
        self.pass = pass
    }

    /// All cases, grouped by reference.
    package static let all = routing + headers + pipelines + caches + parsers
}
