// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The merged shape of all JSON values in one place.
struct JSONShape {
    enum Kind: String, Comparable {
        case null, bool, number, string, array, object

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The number of values.
    private(set) var count = 0
    private(set) var kinds: Set<Kind> = []
    private(set) var objectCount = 0
    private(set) var fields: [String: JSONShape] = [:]
    /// The shape of the elements of all arrays; empty if there were no elements.
    private(set) var elements: [JSONShape] = []

    mutating func add(_ value: JSONValue) {
        count += 1
        kinds.insert(value.kind)
        switch value {
        case .object(let values):
            objectCount += 1
            for (key, value) in values { fields[key, default: JSONShape()].add(value) }
        case .array(let values):
            if elements.isEmpty, !values.isEmpty { elements = [JSONShape()] }
            for value in values { elements[0].add(value) }
        default: break
        }
    }

    /// The parts of a value that do not occur in this shape, each with its path and the difference.
    func strangers(in value: JSONValue, at path: String = "") -> [(path: String, flaw: String)] {
        // If all known values were null, the type is unknown.
        guard kinds != [.null] else { return [] }
        guard kinds.contains(value.kind) else {
            let seen = kinds.sorted().map(\.rawValue).joined(separator: " or ")
            return [(path, "\(value.kind) is canned, but \(seen) was recorded")]
        }
        switch value {
        case .object(let values):
            return values.sorted { $0.key < $1.key }.flatMap { key, value in
                let path = Self.path(path, key)
                return fields[key]?.strangers(in: value, at: path) ?? [(path, "it is canned, but was never recorded")]
            }
        case .array(let values):
            let found = values.flatMap { elements.first?.strangers(in: $0, at: path + "[]") ?? [] }
            var known: Set<String> = []
            return found.filter { known.insert("\($0.path) \($0.flaw)").inserted }
        default:
            return []
        }
    }

    /// The paths that every value of this shape has, but no value of the other shape.
    ///
    /// Only objects that both shapes have are compared.
    func missing(in other: JSONShape, at path: String = "") -> [String] {
        guard other.objectCount > 0 || !other.elements.isEmpty else { return [] }
        var missing: [String] = []
        if other.objectCount > 0 {
            for (key, field) in fields.sorted(by: { $0.key < $1.key }) {
                if let otherField = other.fields[key] {
                    missing += field.missing(in: otherField, at: Self.path(path, key))
                } else if field.count == objectCount {
                    missing.append(Self.path(path, key))
                }
            }
        }
        if let element = elements.first, let otherElement = other.elements.first {
            missing += element.missing(in: otherElement, at: path + "[]")
        }
        return missing
    }

    private static func path(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}

extension JSONValue {
    fileprivate var kind: JSONShape.Kind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }
}
