// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Why a document cannot be used; the text is for the person who called the command.
public struct DocumentError: Error, CustomStringConvertible {
    /// The place, if one is known, and a sentence.
    public let description: String

    init(_ description: String) {
        self.description = PlainText.visible(description)
    }

    init(at node: Node, _ sentence: String) {
        self.init("\(node.pointer) (line \(node.line), column \(node.column)): \(sentence)")
    }

    init(file: String, line: Int, column: Int, _ sentence: String) {
        self.init("\(file):\(line):\(column): \(sentence)")
    }
}

/// A part of a document that is not generated as it is written.
public struct Warning: Hashable, Sendable, CustomStringConvertible {
    /// The file and the JSON pointer.
    public let pointer: String

    /// What happens with the part, and why.
    public let sentence: String

    /// The pointer and the sentence.
    public var description: String { PlainText.visible("\(pointer): \(sentence)") }
}

/// Collects warnings in the order of the document's reading, each once.
final class Warnings {
    private(set) var all: [Warning] = []
    private var known: Set<Warning> = []

    func add(_ node: Node, _ sentence: String) {
        let warning = Warning(pointer: node.pointer, sentence: sentence)
        if known.insert(warning).inserted { all.append(warning) }
    }
}

/// What a document may cost.
public struct DocumentLimits: Sendable {
    /// The largest file, in bytes; 64 MiB by default.
    public var byteCount = 64 << 20

    /// The deepest nesting of objects and arrays; 512 by default.
    public var depth = 512

    /// The most values of all files together, those of YAML aliases counted at each use; 8 million by default.
    public var valueCount = 8_000_000

    /// The most values that the aliases of a YAML file stand for; 100,000 by default.
    public var aliasValueCount = 100_000

    /// The most files; 20,000 by default.
    public var fileCount = 20_000

    /// The deepest nesting of schemas that `$ref` leads to, one from within the other; 4,000 by default.
    public var schemaDepth = 4_000

    /// The most members of all objects together, those that `allOf` takes over counted again; 1 million by default.
    public var memberCount = 1_000_000

    /// Makes the default limits.
    public init() {}
}
