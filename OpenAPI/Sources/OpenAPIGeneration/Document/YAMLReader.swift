// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation
internal import Yams

/// Reads YAML into a tree with lines and columns.
///
/// Types follow the JSON schema of YAML 1.2. The other types of YAML 1.1 are read as text.
struct YAMLReader {
    private let file: String
    private let limits: DocumentLimits
    private(set) var valueCount = 0
    private var aliasValueCount = 0
    /// The places of the anchored values that were read.
    ///
    /// A second value at the same place is an alias.
    private var anchored: Set<[Int]> = []

    init(file: String, limits: DocumentLimits) {
        self.file = file
        self.limits = limits
    }

    mutating func read(_ data: Data) throws(DocumentError) -> Node {
        guard let text = String(data: data, encoding: .utf8) else {
            throw DocumentError("\(file): the YAML is not UTF-8")
        }
        // The parser compares keys, so it could expand an alias within a key without end.
        if YAMLAliases.areDangerous(in: data) {
            throw DocumentError("\(file): the YAML is refused: the name of a member is an alias")
        }
        let root: Yams.Node
        // The parser owns the anchors. Nodes refer to them weakly, so the parser must stay alive.
        var parser: Yams.Parser?
        defer { withExtendedLifetime(parser) {} }
        do {
            // libyaml refuses more than 1,000 levels.
            let reader = try Yams.Parser(yaml: text)
            parser = reader
            guard let node = try reader.singleRoot() else {
                throw DocumentError("\(file): the YAML has no document")
            }
            root = node
        } catch let error as DocumentError {
            throw error
        } catch let error as YamlError {
            throw Self.sentence(of: error, in: file)
        } catch {
            throw DocumentError("\(file): the YAML is not valid")
        }
        let node = try convert(root, depth: 0)
        node.file = file
        return node
    }

    private static func sentence(of error: YamlError, in file: String) -> DocumentError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return DocumentError(
                file: file,
                line: mark.line,
                column: mark.column,
                "the YAML is not valid: \(PlainText.line(problem))"
            )
        case .duplicatedKeysInMapping(let keys, let context):
            return DocumentError(
                file: file,
                line: context.mark.line,
                column: context.mark.column,
                "the YAML is not valid: the member \(quoted(keys.first ?? "")) appears twice"
            )
        default:
            return DocumentError("\(file): the YAML is not valid")
        }
    }

    /// Copies the tree and expands aliases.
    ///
    /// Each copy of a value counts toward the limit.
    private mutating func convert(_ node: Yams.Node, depth: Int, isAlias: Bool = false) throws(DocumentError) -> Node {
        let line = node.mark?.line ?? 1
        let column = node.mark?.column ?? 1
        func error(_ sentence: String) -> DocumentError {
            DocumentError(file: file, line: line, column: column, "the YAML is refused: \(sentence)")
        }
        valueCount += 1
        guard valueCount <= limits.valueCount else {
            throw error("the document has more than \(limits.valueCount) values, with its aliases")
        }
        let isAlias = isAlias || (node.anchor != nil && !anchored.insert([line, column]).inserted)
        if isAlias { aliasValueCount += 1 }
        guard aliasValueCount <= limits.aliasValueCount else {
            throw error("its aliases expand to more than \(limits.aliasValueCount) values")
        }
        guard depth <= limits.depth else { throw error("the document is nested more than \(limits.depth) levels deep") }
        let content: Node.Content
        switch node {
        case .scalar(let scalar): content = Self.content(of: scalar)
        case .sequence(let sequence):
            var elements: [Node] = []
            for element in sequence { elements.append(try convert(element, depth: depth + 1, isAlias: isAlias)) }
            content = .array(elements)
        case .mapping(let mapping):
            var members: [Node.Member] = []
            var merged: [Node] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else { throw error("the name of a member is not a string") }
                let value = try convert(value, depth: depth + 1, isAlias: isAlias)
                if name.string == "<<", name.style == .plain {
                    merged += value.isObject ? [value] : value.elements
                    guard merged.allSatisfy(\.isObject), !merged.isEmpty else {
                        throw error("`<<` needs an object or a list of objects")
                    }
                } else {
                    members.append(Node.Member(key: name.string, value: value))
                }
            }
            content = .object(Self.merge(merged, into: members))
        case .alias: throw error("an alias has no target")
        }
        return Node(content, line: line, column: column)
    }

    /// The members, followed by the members that YAML 1.1's merge keys add.
    ///
    /// If two merged members have the same name, the first one is used.
    private static func merge(_ merged: [Node], into members: [Node.Member]) -> [Node.Member] {
        if merged.isEmpty { return members }
        var members = members
        var keys = Set(members.map(\.key))
        for member in merged.flatMap(\.members) where keys.insert(member.key).inserted { members.append(member) }
        return members
    }

    private static func content(of scalar: Yams.Node.Scalar) -> Node.Content {
        // Whether the value has the tag `!!str`. Without a tag, the parser has not yet chosen a type.
        let isText = scalar.tag.description == Tag.Name.str.rawValue
        guard !isText, scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
        let text = scalar.string
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: return isNumber(text) ? .number(text) : .string(text)
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
        else { return false }
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        }
        return isPlain && Double(text) != nil
    }
}
