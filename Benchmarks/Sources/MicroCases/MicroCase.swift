// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A part of the library, and what is measured beside it in the same run: the least that does the same by hand.
package struct MicroCase: Sendable {
    /// What is done by hand; cases that are compared with the same thing share its name.
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
    /// Does as much as a pass of the reference does.
    package let pass: @Sendable () async throws -> Void

    init(_ name: String, against reference: Reference, _ pass: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.reference = reference
        self.pass = pass
    }

    /// Every case; those with one reference stand together.
    package static let all = routing + headers + pipelines + parsers
}
