// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A type as code uses it.
indirect enum TypeUse {
    case string, bool, int, int32, int64, double, decimal, decimalText, dateTime, day, uuid, url, data, json
    /// Bytes of a multipart form's file, or of a body.
    case binary
    case array(OptionalType)
    case dictionary(OptionalType)
    case declared(Declaration)
}

/// A type, and whether `null` is allowed.
struct OptionalType {
    var type: TypeUse
    var isNullable = false
}

/// A generated type.
final class Declaration {
    enum Kind {
        /// Being read; seen by a schema that contains itself.
        case pending
        case structure(Structure)
        case enumeration(Enumeration)
        case union(Union)
        /// One value of another type, for a schema that contains itself without a struct between.
        case wrapper(OptionalType)
        /// Any JSON: the schema has no type of its own after all.
        case opaque
    }

    var kind = Kind.pending
    /// The schema that it was made of.
    let node: Node
    /// The name that it should have.
    let wantedName: String
    /// The name that it has, with those of the types around it.
    var name = ""
    var parent: Declaration?
    var nested: [Declaration] = []
    /// Where the type is written: the name of a router for one of an operation; nil for a component.
    var owner: String?
    var documentation: String?
    var usage = Usage()
    /// Whether the type contains itself by way of a union.
    var isIndirect = false

    init(_ node: Node, named name: String, in parent: Declaration?) {
        self.node = node
        wantedName = name
        self.parent = parent
    }

    var isOpaque: Bool {
        if case .opaque = kind { true } else { false }
    }

    /// The members; nil for anything but an object.
    var structure: Structure? {
        if case .structure(let structure) = kind { structure } else { nil }
    }

    var enumeration: Enumeration? {
        if case .enumeration(let enumeration) = kind { enumeration } else { nil }
    }

    var union: Union? {
        if case .union(let union) = kind { union } else { nil }
    }

    var outermost: Declaration { parent?.outermost ?? self }

    /// A type's name as code within this type writes it.
    func shortened(_ full: String) -> String {
        var scope: Declaration? = self
        while let around = scope {
            if full.hasPrefix(around.name + ".") { return String(full.dropFirst(around.name.count + 1)) }
            scope = around.parent
        }
        return full
    }

    /// The last part of the name.
    var shortName: String { name.split(separator: ".").last.map(String.init) ?? name }
}

/// In which directions a type travels, and as what.
struct Usage: OptionSet {
    let rawValue: Int
    static let request = Usage(rawValue: 1)
    static let response = Usage(rawValue: 2)
    /// In a query, a header field, a cookie or a path.
    static let parameter = Usage(rawValue: 4)
    /// As the fields of a multipart form.
    static let form = Usage(rawValue: 8)
}

/// An object with named members.
struct Structure {
    var properties: [Property] = []
    /// The type of members that the schema does not name; nil where they are not wanted.
    var additional: OptionalType?
}

/// A member of an object.
struct Property {
    let key: String
    var name: String
    var type: OptionalType
    var isRequired: Bool
    var isReadOnly = false
    var isWriteOnly = false
    var isDeprecated = false
    var documentation: String?
    /// The values that the schema lists at this place; they tell alternatives apart.
    var values: [String] = []
    /// Whether it is stored out of line, because the type contains itself.
    var isBoxed = false
    /// How a multipart form encodes it.
    var partMediaType: String?
}

/// An open set of values.
struct Enumeration {
    struct Value {
        let literal: String
        let name: String
        let documentation: String?
    }

    let isInteger: Bool
    var values: [Value]
}

/// One of several types.
struct Union {
    struct Case {
        var name: String
        let type: TypeUse
        /// The values of the tag; empty without one.
        var tags: [String] = []
        /// The members that have to be there.
        var required: [String] = []
        /// Whether nothing tells a value of it from those of other cases: it can be sent only.
        var isUnreadable = false
    }

    var cases: [Case]
    /// The name of the member that tells the cases apart.
    var tag: String?
    /// Whether a value that fits no case is kept; false for failures.
    var isOpen = true
    /// Why a value could be taken for another case when it is read; nil where it cannot.
    var ambiguity: String?
    /// Whether the cases are the heirs of one schema.
    var isHierarchy = false
    /// The name of the case for a tag that is unknown or missing; nil keeps such a value as JSON.
    var fallback: String?
    /// The member that tells cases apart that share a value of the tag.
    var secondTags: [[Int]: String] = [:]
    /// The document's `discriminator`.
    var discriminator: Node?
}

extension Union {
    /// The values of the tag with the cases that have them, in the order of the cases.
    var arms: [(values: [String], cases: [Int])] {
        var order: [String] = []
        var owners: [String: [Int]] = [:]
        for (index, variant) in cases.enumerated() {
            for tag in variant.tags {
                if owners[tag] == nil { order.append(tag) }
                owners[tag, default: []].append(index)
            }
        }
        var arms: [(values: [String], cases: [Int])] = []
        var indices: [[Int]: Int] = [:]
        for tag in order {
            guard let cases = owners[tag] else { continue }
            if let index = indices[cases] {
                arms[index].values.append(tag)
            } else {
                indices[cases] = arms.count
                arms.append(([tag], cases))
            }
        }
        return arms
    }
}

extension TypeUse {
    /// The declaration behind arrays and dictionaries.
    var declarations: [Declaration] {
        switch self {
        case .declared(let declaration): [declaration]
        case .array(let element), .dictionary(let element): element.type.declarations
        default: []
        }
    }

    /// What tells the type from others: the declaration itself, as its name is not known yet.
    var identity: String {
        switch self {
        case .declared(let declaration): "\(ObjectIdentifier(declaration))"
        default: code + declarations.map { "\(ObjectIdentifier($0))" }.joined()
        }
    }

    func isDeclared(as declaration: Declaration) -> Bool {
        if case .declared(let declared) = self { declared === declaration } else { false }
    }

    /// The type as code, with short names for the types within one.
    func code(in scope: Declaration) -> String {
        switch self {
        case .array(let element): "[\(element.code(in: scope))]"
        case .dictionary(let value): "[String: \(value.code(in: scope))]"
        case .declared(let declaration):
            declaration.isOpaque ? "JSONValue" : scope.shortened(declaration.name)
        default: code
        }
    }

    /// The type as code.
    var code: String {
        switch self {
        case .string: "String"
        case .bool: "Bool"
        case .int: "Int"
        case .int32: "Int32"
        case .int64: "Int64"
        case .double: "Double"
        case .decimal: "Decimal"
        case .decimalText: "DecimalText"
        case .dateTime: "DateTime"
        case .day: "Day"
        case .uuid: "UUID"
        case .url: "URL"
        case .data: "Data"
        case .json: "JSONValue"
        case .binary: "Data"
        case .array(let element): "[\(element.code)]"
        case .dictionary(let value): "[String: \(value.code)]"
        case .declared(let declaration): declaration.isOpaque ? "JSONValue" : declaration.name
        }
    }

    var isJSON: Bool {
        switch self {
        case .json: true
        case .declared(let declaration): declaration.isOpaque
        default: false
        }
    }

    var isBinary: Bool {
        switch self {
        case .binary: true
        case .array(let element): element.type.isBinary
        default: false
        }
    }

    /// What the type is called in the name of a case.
    var caseName: String {
        switch self {
        case .string: "string"
        case .bool: "bool"
        case .int, .int32, .int64: "integer"
        case .double, .decimal, .decimalText: "number"
        case .dateTime: "dateTime"
        case .day: "day"
        case .uuid: "uuid"
        case .url: "url"
        case .data, .binary: "data"
        case .json: "json"
        case .array(let element): element.type.caseName + "Array"
        case .dictionary: "object"
        case .declared(let declaration): Identifier.member(declaration.wantedName)
        }
    }
}

extension OptionalType {
    /// The type as code, with `?` where null is allowed.
    var code: String { type.code + (isNullable ? "?" : "") }

    func code(in scope: Declaration) -> String { type.code(in: scope) + (isNullable ? "?" : "") }
}
