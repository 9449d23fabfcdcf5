// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The field as a header line, with a secret value replaced.
    public var description: String {
        "\(name): \(Redactor.standard.redact(value, ofHeader: name))"
    }

    /// Hides the properties from `dump`.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields as header lines, with the values of secret fields replaced.
    public var description: String {
        map(\.description).joined(separator: "\n")
    }
}
