// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The reason why a document cannot be used.
///
/// The text is for the user of the command.
public struct DocumentError: Error, CustomStringConvertible {
    /// The place, if it is known, and a sentence.
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

/// A part of a document that the generator changes or ignores.
public struct Warning: Hashable, Sendable, CustomStringConvertible {
    /// The file and the JSON pointer.
    public let pointer: String

    /// The generator's treatment of the part, and the reason.
    public let sentence: String

    /// The pointer and the sentence.
    public var description: String { PlainText.visible("\(pointer): \(sentence)") }
}

/// Collects each warning once, in the order in which the document is read.
final class Warnings {
    private(set) var all: [Warning] = []
    private var known: Set<Warning> = []

    func add(_ node: Node, _ sentence: String) {
        add(Warning(pointer: node.pointer, sentence: sentence))
    }

    func add(_ warning: Warning) {
        if known.insert(warning).inserted { all.append(warning) }
    }
}

/// Limits for the size of a document.
public struct DocumentLimits: Sendable {
    /// The largest file, in bytes; 64 MiB by default.
    public var byteCount = 64 << 20

    /// The deepest nesting of objects and arrays; 512 by default.
    public var depth = 512

    /// The maximum number of values in all files; 2 million by default.
    ///
    /// The values of a YAML alias count at each use. The default keeps the memory for the values below 1 GB.
    public var valueCount = 2_000_000

    /// The maximum number of values to which the aliases of a YAML file expand; 100,000 by default.
    public var aliasValueCount = 100_000

    /// The maximum number of files; 20,000 by default.
    public var fileCount = 20_000

    /// The deepest nesting of schemas through `$ref`; 4,000 by default.
    public var schemaDepth = 4_000

    /// The maximum number of members of all objects; 1 million by default.
    ///
    /// Members included by `allOf` count again.
    public var memberCount = 1_000_000

    /// Makes the default limits.
    public init() {}

    /// The sentence about a document that has more values than ``valueCount``.
    var valueCountSentence: String { "the document has too many values; --maximum-values sets another limit" }
}
