// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A value of texts, and what a server makes of a form.
indirect enum FormTree: Encodable, Sendable, Equatable {
    case null
    case text(String)
    case array([FormTree])
    case object([Part])

    struct Part: Sendable, Equatable {
        let key: String
        let value: FormTree
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .text(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let parts):
            var container = encoder.container(keyedBy: Key.self)
            for part in parts { try container.encode(part.value, forKey: Key(stringValue: part.key)) }
        }
    }

    static func random(depth: Int, isRoot: Bool = false, using random: inout SeededGenerator) -> FormTree {
        switch isRoot ? 5 : depth == 0 ? Int.random(in: 0..<3, using: &random) : Int.random(in: 0..<6, using: &random) {
        case 0: return .null
        case 1, 2: return .text(text(using: &random))
        case 3, 4:
            return .array(
                (0..<Int.random(in: 0..<4, using: &random)).map { _ in .random(depth: depth - 1, using: &random) }
            )
        default:
            return .object(
                (0..<Int.random(in: (isRoot ? 3 : 0)..<6, using: &random)).map { index in
                    // Of its own first character, so that no two are the same and none is an index.
                    let key = "\(Character(UnicodeScalar(UInt8(97 + index))))" + text(using: &random)
                    return Part(key: key, value: .random(depth: depth - 1, using: &random))
                }
            )
        }
    }

    /// Neither brackets nor dots nor commas: those belong to the styles.
    private static func text(using random: inout SeededGenerator) -> String {
        let characters = Array("abz09 +&=%~*-_/?#;'\"\\\n\u{0}é€🐶")
        return String(
            (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                characters[Int.random(in: characters.indices, using: &random)]
            }
        )
    }

    /// The part of the tree that can be read back.
    ///
    /// It has no nil and no empty values. A list of one text is the same as the text, unless a mark shows the list.
    func canonical(arrays: FormEncoding.ArrayStyle) -> FormTree {
        switch self {
        case .null, .text: return self
        case .array(let elements):
            let isNested = elements.contains {
                if case .null = $0 { false } else if case .text = $0 { false } else { true }
            }
            let kept = elements.map { $0.canonical(arrays: arrays) }.filter { $0 != .null }
            if kept.isEmpty { return .null }
            let isMarked = isNested || arrays == .brackets || arrays == .indexed
            return !isMarked && kept.count == 1 ? kept[0] : .array(kept)
        case .object(let parts):
            let kept = parts.map { Part(key: $0.key, value: $0.value.canonical(arrays: arrays)) }.filter {
                $0.value != .null
            }
            return kept.isEmpty ? .null : .object(kept)
        }
    }
}

// MARK: - Reading

extension FormTree {
    /// The tree that a server reads: `a[b]`, `a.b`, `a[]`, `a[0]`, repeated names, and commas in the style of commas.
    static func parsed(_ text: String, arrays: FormEncoding.ArrayStyle) -> FormTree {
        var root = FormTree.null
        for item in text.split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = decoded(sides[1])
            let texts = arrays == .comma ? value.components(separatedBy: ",") : [value]
            let name = decoded(sides[0]).replacingOccurrences(of: "]", with: "").replacingOccurrences(
                of: "[",
                with: "."
            )
            let leaf = texts.count == 1 ? FormTree.text(value) : .array(texts.map(FormTree.text))
            root.insert(leaf, at: name.components(separatedBy: ".")[...])
        }
        return root
    }

    private static func decoded(_ text: Substring) -> String {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "broken"
    }

    private mutating func insert(_ leaf: FormTree, at path: ArraySlice<String>) {
        guard let key = path.first else {
            switch self {
            case .null: self = leaf
            case .array(let elements): self = .array(elements + [leaf])
            default: self = .array([self, leaf])
            }
            return
        }
        if key.isEmpty || Int(key) != nil {
            var elements: [FormTree] = if case .array(let elements) = self { elements } else { [] }
            let index = Int(key) ?? elements.count
            if index == elements.count { elements.append(.null) }
            if index < elements.count { elements[index].insert(leaf, at: path.dropFirst()) }
            self = .array(elements)
        } else {
            var parts: [Part] = if case .object(let parts) = self { parts } else { [] }
            let index = parts.firstIndex { $0.key == key } ?? parts.count
            var value = index < parts.count ? parts[index].value : .null
            value.insert(leaf, at: path.dropFirst())
            parts.replaceSubrange(index..<min(index + 1, parts.count), with: [Part(key: key, value: value)])
            self = .object(parts)
        }
    }
}
