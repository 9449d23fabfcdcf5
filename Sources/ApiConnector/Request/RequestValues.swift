// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Values of any types that a call hands to the providers: ``CallOptions/values``, ``ApiRequest/values``.
///
/// Nothing of them is sent. A copy shares its storage. To read a value costs one comparison for each value that was set, and
/// nothing is allocated for a call without values. To set a `Hashable` value to its key's default removes it, and so does `nil`
/// if that is the default.
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

    /// Makes an empty set of values: each key has its default.
    public init() {}

    /// The value of a key.
    public subscript<Key: RequestValueKey>(_ key: Key.Type) -> Key.Value {
        get {
            guard let node = Self.node(of: ObjectIdentifier(key), from: first) else { return Key.defaultValue }
            return node.value as? Key.Value ?? Key.defaultValue
        }
        set {
            let id = ObjectIdentifier(key)
            let others = Self.removing(id, from: first)
            // One that is set to its default is equal to one that was not set.
            first = Self.areEqual(newValue, Key.defaultValue) ? others : Node(id, newValue, others)
        }
    }

    /// Whether no value was set.
    var isEmpty: Bool { first == nil }

    /// Gives a key its default.
    mutating func remove<Key: RequestValueKey>(_ key: Key.Type) {
        first = Self.removing(ObjectIdentifier(key), from: first)
    }

    /// These values, with one of them set.
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

/// An optional, whatever it wraps.
private protocol AbsentOrPresent {
    var isAbsent: Bool { get }
}

extension Optional: AbsentOrPresent {
    fileprivate var isAbsent: Bool { if case .none = self { true } else { false } }
}

extension RequestValues: Hashable {
    /// Whether the same keys were set to equal values.
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

/// ``ApiRequest/priority``.
enum PriorityValue: RequestValueKey {
    static let defaultValue = CallPriority.normal
}

/// Who wants to know how far the request's body has come.
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
