// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import Foundation

/// Combines the files of a document into one JSON document.
///
/// The member `x-files` contains the other files by name. References to another file are changed to lead there.
public struct DocumentBundle {
    private let documents: DocumentSet
    private static let member = "x-files"

    /// Reads a document's first file.
    ///
    /// - Throws: ``DocumentError`` for a document that cannot be read.
    public init(contentsOf url: URL, limits: DocumentLimits = DocumentLimits()) throws(DocumentError) {
        documents = try DocumentSet(contentsOf: url, limits: limits)
    }

    /// Reads a document of one file from memory.
    ///
    /// - Throws: ``DocumentError`` for a document that cannot be read.
    public init(_ data: Data, named name: String) throws(DocumentError) {
        documents = try DocumentSet(data, named: name)
    }

    /// The text of the combined document.
    ///
    /// Members keep their order.
    ///
    /// - Throws: ``DocumentError`` for a reference that cannot be followed.
    public func json() throws(DocumentError) -> String {
        try LargeStack.run { () throws(DocumentError) in
            var writer = BundleWriter(documents: documents, member: Self.member)
            return try writer.document()
        }
    }
}

private struct BundleWriter {
    let documents: DocumentSet
    let member: String
    private var text = ""
    /// The other files in the order in which references to them were found.
    private var files: [Node] = []
    /// The members of objects that are being written in the place of a reference.
    private var inlined: Set<ObjectIdentifier> = []
    /// How often a reference was replaced by members.
    private var inlinedCount = 0
    private static let maximumInlinedCount = 10_000
    private static let maximumInlinedDepth = 64

    init(documents: DocumentSet, member: String) {
        self.documents = documents
        self.member = member
    }

    mutating func document() throws(DocumentError) -> String {
        let root = documents.root
        guard root.isObject else { throw DocumentError(at: root, "the document must be an object") }
        guard root[member] == nil else {
            throw DocumentError(at: root, "the document already has a member \(quoted(member))")
        }
        try write(root, "")
        guard !files.isEmpty else { return text + "\n" }
        text.removeLast(2)
        text += ",\n  \"\(member)\": {"
        var index = 0
        // Writing a file may find references to more files.
        while index < files.count {
            text += index == 0 ? "\n    " : ",\n    "
            write(files[index].file)
            text += ": "
            try write(files[index], "    ")
            index += 1
        }
        return text + "\n  }\n}\n"
    }

    /// The meaning of the members of an object.
    private enum Members {
        case keywords
        /// Names that the document chooses, such as the names of schemas; `default` and `example` are such names, too.
        case names
        /// Data, in which `$ref` has no meaning.
        case data
        /// Data with a name in `x-`, in which a `$ref` that leads to a value is a reference.
        case custom
    }

    private mutating func write(
        _ node: Node,
        _ indent: String,
        _ meaning: Members = .keywords
    ) throws(DocumentError) {
        switch node.content {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): write(number: number)
        case .string(let string): write(string)
        case .array(let elements):
            guard !elements.isEmpty else { return text += "[]" }
            text += "["
            for (index, element) in elements.enumerated() {
                text += index == 0 ? "\n\(indent)  " : ",\n\(indent)  "
                try write(element, indent + "  ", meaning == .data || meaning == .custom ? meaning : .keywords)
            }
            text += "\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else { return text += "{}" }
            text += "{"
            for (index, member) in members.enumerated() {
                text += index == 0 ? "\n\(indent)  " : ",\n\(indent)  "
                write(member.key)
                text += ": "
                let reference =
                    switch meaning {
                    case .data: nil as String?
                    case .custom: try? reference(member, in: node)
                    case .keywords, .names: try reference(member, in: node)
                    }
                if let reference {
                    write(reference)
                } else if meaning == .keywords, member.key == "properties" {
                    try write(properties: member.value, indent + "  ")
                } else {
                    try write(member.value, indent + "  ", Self.members(of: member, meaning))
                }
            }
            text += "\n\(indent)}"
        }
    }

    /// Writes the members of a schema's object.
    ///
    /// Some documents have a `$ref` instead of the members. Other tools read it as a member with this name, so it is
    /// replaced by the members.
    private mutating func write(properties node: Node, _ indent: String) throws(DocumentError) {
        let target = node["$ref"]?.string == nil ? node : try documents.resolved(node)
        guard target !== node, inlined.insert(ObjectIdentifier(target)).inserted else {
            return try write(node, indent, .names)
        }
        inlinedCount += 1
        guard inlinedCount <= Self.maximumInlinedCount, inlined.count <= Self.maximumInlinedDepth else {
            throw DocumentError(at: node, "too many references replace members; use a reference to a schema instead")
        }
        try write(target, indent, .names)
        inlined.remove(ObjectIdentifier(target))
    }

    /// The meaning of the members of a member's value.
    private static func members(of member: Node.Member, _ meaning: Members) -> Members {
        switch meaning {
        case .data, .custom: meaning
        case .names: .keywords
        case .keywords where data.contains(member.key): .data
        case .keywords where member.key.hasPrefix("x-"): .custom
        // In a schema, `examples` is a list of values. Anywhere else, it has the names of Example objects.
        case .keywords where member.key == "examples": member.value.isObject ? .names : .data
        case .keywords: maps.contains(member.key) ? .names : .keywords
        }
    }

    /// The keywords whose value is data.
    private static let data: Set<String> = ["example", "default", "const", "enum", "value", "dataValue"]

    /// The keywords whose value is an object with names.
    private static let maps: Set<String> = [
        "$defs", "additionalOperations", "callbacks", "content", "definitions", "dependentSchemas", "encoding",
        "headers", "links", "mapping", "mediaTypes", "parameters", "pathItems", "paths", "patternProperties",
        "properties", "requestBodies", "responses", "schemas", "securitySchemes", "variables", "webhooks",
    ]

    /// A reference in the form for the combined document; nil for a member that is not a reference.
    private mutating func reference(_ member: Node.Member, in node: Node) throws(DocumentError) -> String? {
        guard let old = member.value.string else { return nil }
        if member.key == "$ref" {
            let target = try documents.target(of: old, at: node)
            return old.hasPrefix("#") && node.root === documents.root ? old : pointer(of: target)
        }
        // The values of a discriminator's mapping are names or references.
        guard node.key == "mapping", old.contains("#") || old.contains("."),
            let target = try? documents.target(of: old, at: node)
        else { return nil }
        return old.hasPrefix("#") && node.root === documents.root ? old : pointer(of: target)
    }

    private mutating func pointer(of node: Node) -> String {
        let root = node.root
        let parts = node.pointer.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let steps = parts.count > 1 ? String(parts[1]) : ""
        let allowed = CharacterSet.urlFragmentAllowed
        let encoded = steps.addingPercentEncoding(withAllowedCharacters: allowed) ?? steps
        guard root !== documents.root else { return "#" + encoded }
        if !files.contains(where: { $0 === root }) { files.append(root) }
        let name = root.file.replacing("~", with: "~0").replacing("/", with: "~1")
        return "#/\(member)/" + (name.addingPercentEncoding(withAllowedCharacters: allowed) ?? name) + encoded
    }

    private mutating func write(number: String) {
        let isJSON = number.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
        if isJSON {
            text += number
        } else if let value = Double(number), value.isFinite {
            // YAML has numbers such as 007 and `1.`.
            text += value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        } else {
            write(number)
        }
    }

    private mutating func write(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
