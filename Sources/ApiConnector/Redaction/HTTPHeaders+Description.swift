// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The field's line, with a secret value replaced.
    public var description: String {
        "\(name): \(Redactor.standard.redact(value, ofHeader: name))"
    }

    /// What a dump shows: nothing that the description does not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One line a field, with the values of secret fields replaced.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }
}
