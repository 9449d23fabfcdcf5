// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The name of a record, a lease or a bucket: a namespace, such as the program's name, and a name.
///
/// A key must not contain a secret, because a store may show its keys.
public struct SharedStateKey: Sendable, Hashable, CustomStringConvertible {
    /// The namespace, so that programs that share a store do not collide.
    public let namespace: String
    /// The name within the namespace.
    public let name: String

    /// Makes a key.
    public init(_ name: String, in namespace: String) {
        self.namespace = namespace
        self.name = name
    }

    /// The namespace and the name, separated by a slash.
    ///
    /// A slash or a percent sign in the namespace is percent-encoded, so that no two keys have
    /// the same description.
    public var description: String {
        let encoded = namespace.replacing("%", with: "%25").replacing("/", with: "%2F")
        return "\(encoded)/\(name)"
    }
}
