// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A use of a type in the code.
indirect enum TypeUse {
    case string, bool, int, int32, int64, uint64, double, decimal, decimalText, dateTime, day, uuid, url, data, json
    /// Bytes of a multipart form's file, or of a body; in JSON a string without a defined encoding.
    case binary
    /// A server-sent event whose data is not JSON.
    case event
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
        /// The schema is not yet read completely. A schema that contains itself meets this state.
        case pending
        case structure(Structure)
        case enumeration(Enumeration)
        case union(Union)
        /// A wrapper around another type, for a schema that contains itself without a struct in between.
        case wrapper(OptionalType)
        /// Any JSON: the schema does not define a type.
        case opaque
    }

    var kind = Kind.pending
    /// The schema that the type comes from.
    let node: Node
    /// The preferred name.
    let wantedName: String
    /// The final name, with the names of the enclosing types.
    var name = ""
    var parent: Declaration?
    var nested: [Declaration] = []
    /// The router whose file contains the type, for a type of an operation; nil for a component.
    var owner: String?
    var documentation: String?
    var usage = Usage()
    /// Whether the type is not generated, because the selected operations do not need it.
    var isOmitted = false
    /// Whether another type has the same schema, for example because a form is also JSON.
    var isCopy = false
    /// Whether the type contains itself through a union.
    var isIndirect = false
    var conformance = Conformance.none

    /// How values of a type can be compared.
    enum Conformance: Int, Comparable {
        case none, equatable, hashable

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

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

    /// The generated types of the members or the alternatives.
    var parts: [Declaration] {
        switch kind {
        case .structure(let structure):
            (structure.properties.map(\.type) + [structure.additional].compactMap(\.self)).flatMap(\.type.declarations)
        case .union(let union): union.cases.flatMap(\.type.declarations)
        case .wrapper(let type): type.type.declarations
        case .enumeration, .pending, .opaque: []
        }
    }

    /// Whether an alternative is a file.
    var hasFiles: Bool { union?.cases.contains(where: \.type.isBinary) ?? false }

    /// Whether the type is generated.
    var isGenerated: Bool { !usage.isEmpty && !isOpaque && !isOmitted }

    var outermost: Declaration { parent?.outermost ?? self }

    /// The short form of a type's name that code within this type can use.
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

/// How values of a type are sent and received.
struct Usage: OptionSet {
    let rawValue: Int
    static let request = Usage(rawValue: 1)
    static let response = Usage(rawValue: 2)
    /// In a query, a header field, a cookie or a path.
    static let parameter = Usage(rawValue: 4)
    /// As a multipart form, or as alternatives in one.
    static let form = Usage(rawValue: 8)

    /// The usage of a type's members.
    ///
    /// Only the outermost type is a form. Its members are text or JSON, unless they are alternatives.
    var inner: Usage { contains(.form) ? subtracting(.form).union(.request) : self }
}

/// An object with named members.
struct Structure {
    var properties: [Property] = []
    /// The type of members that the schema does not name; nil if they are not allowed.
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
    /// The values that the schema lists for this member.
    ///
    /// They can distinguish alternatives.
    var values: [String] = []
    /// Whether the member is stored out of line, because the type contains itself.
    var isBoxed = false
    /// The schema; nil for a member that is only listed in `required`.
    var node: Node?
    /// The media type of the member in a multipart form.
    var partMediaType: String?

    /// Whether values with this usage do not have the member, because it is read-only or write-only.
    func isLeftOut(_ usage: Usage) -> Bool { usage == .request ? isReadOnly : usage == .response && isWriteOnly }

    /// Whether the member is alternatives, and a form chooses for each of them whether it is a file, text or JSON.
    var isFormValue: Bool {
        guard let alternatives = type.type.alternatives else { return false }
        return alternatives.hasFiles || partMediaType.map { ContentKind($0) != .json } ?? true
    }
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

/// A type whose values have one of several types.
struct Union {
    struct Case {
        var name: String
        let type: TypeUse
        /// The values of the tag; empty if the union has no tag.
        var tags: [String] = []
        /// The required members.
        var required: [String] = []
        /// Whether values of this case cannot be distinguished from values of other cases.
        ///
        /// Such a case can only be sent.
        var isUnreadable = false
    }

    var cases: [Case]
    /// The name of the member that distinguishes the cases.
    var tag: String?
    /// Whether a value that matches no case is kept; false for errors.
    var isOpen = true
    /// The reason why the wrong case could be chosen for a received value; nil if this cannot happen.
    var ambiguity: String?
    /// Whether the cases are the heirs of one schema.
    var isHierarchy = false
    /// The case for an unknown or missing tag; nil keeps the value as JSON.
    var fallback: String?
    /// The member that distinguishes cases with the same value of the tag.
    var secondTags: [[Int]: String] = [:]
    /// The document's `discriminator`.
    var discriminator: Node?
}

extension Union {
    /// The values of the tag, grouped by the cases that have them, in the order of the cases.
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
    /// The declarations that the type uses, also as the elements of arrays and dictionaries.
    var declarations: [Declaration] {
        switch self {
        case .declared(let declaration): [declaration]
        case .array(let element), .dictionary(let element): element.type.declarations
        default: []
        }
    }

    /// The type's identity: the declaration itself, because its name is not known yet.
    var identity: String {
        switch self {
        case .declared(let declaration): "\(ObjectIdentifier(declaration))"
        default: code + declarations.map { "\(ObjectIdentifier($0))" }.joined()
        }
    }

    func isDeclared(as declaration: Declaration) -> Bool {
        if case .declared(let declared) = self { declared === declaration } else { false }
    }

    /// The type as code within a declaration, with short names for the declaration's nested types.
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
        case .uint64: "UInt64"
        case .double: "Double"
        case .decimal: "Decimal"
        case .decimalText: "DecimalText"
        case .dateTime: "DateTime"
        case .day: "Day"
        case .uuid: "UUID"
        case .url: "URL"
        case .data: "Data"
        case .json: "JSONValue"
        // In JSON, where bytes are not possible.
        case .binary: "String"
        case .event: "ServerSentEvent"
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

    /// Whether JSON's coders have their own format for the type, which its `encode(to:)` does not use.
    var hasCoderFormat: Bool {
        switch self {
        case .url, .data, .decimal: true
        default: false
        }
    }

    /// Which values of other alternatives a type accepts.
    enum Openness: Int, Comparable {
        case none
        /// A decimal number in a text also accepts a number.
        case numbers
        /// A list or a dictionary whose elements can be anything.
        case containers
        case everything

        static func < (left: Openness, right: Openness) -> Bool { left.rawValue < right.rawValue }
    }

    var openness: Openness {
        switch self {
        case .decimalText: .numbers
        case .array(let element), .dictionary(let element): min(element.type.openness, .containers)
        case .declared(let declaration):
            declaration.union?.isOpen == true || declaration.isOpaque ? .everything : .none
        case .json: .everything
        default: .none
        }
    }

    var isListOfObjects: Bool {
        guard case .array(let element) = self else { return false }
        switch element.type {
        case .dictionary: return true
        case .declared(let declared): return declared.structure != nil
        default: return false
        }
    }

    var isBinary: Bool {
        switch self {
        case .binary: true
        case .array(let element): element.type.isBinary
        default: false
        }
    }

    /// The declaration of alternatives, also as the elements of an array; nil for another type.
    var alternatives: Declaration? {
        switch self {
        case .declared(let declaration): declaration.union == nil ? nil : declaration
        case .array(let element): if case .declared = element.type { element.type.alternatives } else { nil }
        default: nil
        }
    }

    /// Whether a form sends the value as text, not as JSON or as a file.
    var isText: Bool {
        switch self {
        case .json, .binary, .event, .array, .dictionary: false
        case .declared(let declaration): declaration.enumeration != nil
        default: true
        }
    }

    /// The type's part in the name of a case.
    var caseName: String {
        switch self {
        case .string: "string"
        case .bool: "bool"
        case .int, .int32, .int64, .uint64: "integer"
        case .double, .decimal, .decimalText: "number"
        case .dateTime: "dateTime"
        case .day: "day"
        case .uuid: "uuid"
        case .url: "url"
        case .data: "data"
        case .binary: "file"
        case .json: "json"
        case .event: "event"
        case .array(let element): element.type.isBinary ? "files" : element.type.caseName + "Array"
        case .dictionary: "object"
        case .declared(let declaration): Identifier.member(declaration.wantedName)
        }
    }
}

extension OptionalType {
    /// The type as code, with `?` if null is allowed.
    var code: String { type.code + (isNullable ? "?" : "") }

    func code(in scope: Declaration) -> String { type.code(in: scope) + (isNullable ? "?" : "") }
}
