// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The key of a value that a call carries to the providers.
///
/// ```swift
/// enum Tenant: RequestValueKey {
///     static let defaultValue = "none"
/// }
///
/// let options = CallOptions(values: RequestValues().setting(Tenant.self, to: "acme"))
/// // In a provider:
/// request.headers["X-Tenant"] = request.values[Tenant.self]
/// ```
public protocol RequestValueKey {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The value of a request for which no value was set.
    static var defaultValue: Value { get }
}

/// Values of any type that a call passes to its providers: set in ``CallOptions/values``, read in
/// ``ApiRequest/values``.
///
/// The values are not sent. Copies share their storage. Reading a value takes one comparison per value that was set,
/// and a call without values allocates nothing. Setting a `Hashable` value to its key's default removes it. So does
/// setting `nil` if that is the default.
public struct RequestValues: Sendable {
    private final class Node: Sendable {
        let key: ObjectIdentifier
        let value: any Sendable
        let next: Node?

        init(_ key: ObjectIdentifier, _ value: any Sendable, _ next: Node?) {
            self.key = key
            self.value = value
            self.next = next
        }
    }

    private var first: Node?

    /// Makes an empty collection, in which each key has its default.
    public init() {}

    /// The value of a key.
    public subscript<Key: RequestValueKey>(_ key: Key.Type) -> Key.Value {
        get {
            guard let node = Self.node(of: ObjectIdentifier(key), from: first) else { return Key.defaultValue }
            return Self.value(of: key, in: node)
        }
        set {
            let id = ObjectIdentifier(key)
            let others = Self.removing(id, from: first)
            // A value that is set to the default equals a value that was not set.
            first = Self.areEqual(newValue, Key.defaultValue) ? others : Node(id, newValue, others)
        }
    }

    /// A separate function, because the types of the cast take a third of a microsecond, even for a call without
    /// values.
    @inline(never)
    private static func value<Key: RequestValueKey>(of key: Key.Type, in node: Node) -> Key.Value {
        node.value as? Key.Value ?? Key.defaultValue
    }

    /// Whether no value was set.
    var isEmpty: Bool { first == nil }

    /// Resets a key to its default.
    mutating func remove<Key: RequestValueKey>(_ key: Key.Type) {
        first = Self.removing(ObjectIdentifier(key), from: first)
    }

    /// Returns a copy with one value set.
    public func setting<Key: RequestValueKey>(_ key: Key.Type, to value: Key.Value) -> RequestValues {
        var values = self
        values[key] = value
        return values
    }

    private static func areEqual(_ one: any Sendable, _ other: any Sendable) -> Bool {
        if let one = one as? any AbsentOrPresent, let other = other as? any AbsentOrPresent,
            one.isAbsent || other.isAbsent
        {
            return one.isAbsent && other.isAbsent
        }
        guard let one = one as? any Hashable, let other = other as? any Hashable else { return false }
        return AnyHashable(one) == AnyHashable(other)
    }

    private static func node(of key: ObjectIdentifier, from first: Node?) -> Node? {
        var node = first
        while let current = node, current.key != key { node = current.next }
        return node
    }

    private static func removing(_ key: ObjectIdentifier, from first: Node?) -> Node? {
        guard let first, node(of: key, from: first) != nil else { return first }
        return first.key == key ? first.next : Node(first.key, first.value, removing(key, from: first.next))
    }
}

/// An optional of any type.
private protocol AbsentOrPresent {
    var isAbsent: Bool { get }
}

extension Optional: AbsentOrPresent {
    fileprivate var isAbsent: Bool { if case .none = self { true } else { false } }
}

extension RequestValues: Hashable {
    /// Whether the same keys have equal values.
    ///
    /// Values that are not `Hashable` are equal only if one is a copy of the other.
    public static func == (left: RequestValues, right: RequestValues) -> Bool {
        left.first === right.first || left.contents == right.contents
    }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contents)
    }

    private var contents: [ObjectIdentifier: AnyHashable] {
        var contents: [ObjectIdentifier: AnyHashable] = [:]
        var node = first
        while let current = node {
            contents[current.key] =
                (current.value as? any Hashable).map { AnyHashable($0) } ?? AnyHashable(ObjectIdentifier(current))
            node = current.next
        }
        return contents
    }
}

/// The key of ``ApiRequest/priority``.
enum PriorityValue: RequestValueKey {
    static let defaultValue = CallPriority.normal
}

/// The key of ``ApiRequest/uploadProgress``.
enum UploadProgressValue: RequestValueKey {
    static let defaultValue: UploadProgress? = nil
}

extension RequestValues {
    var priority: CallPriority {
        get { self[PriorityValue.self] }
        set { self[PriorityValue.self] = newValue }
    }

    var uploadProgress: UploadProgress? {
        get { self[UploadProgressValue.self] }
        set { self[UploadProgressValue.self] = newValue }
    }
}

/// The priority of a call among the calls that wait for the same limit; see `limiting(_:by:)` in ApiConnectorTraffic.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// For work that no user waits for, such as a prefetch.
    case low
    /// The default.
    case normal
    /// For work that a user waits for.
    case high

    /// Compares priorities in the order of their declaration.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
