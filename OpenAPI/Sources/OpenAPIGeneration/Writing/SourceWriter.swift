// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Lines of Swift as swift-format lays them out: 4 spaces, 120 columns, one argument per line where they do not fit.
struct SourceWriter {
    static let width = 120

    private(set) var lines: [String] = []
    private var depth = 0

    private var indentation: String { String(repeating: "    ", count: depth) }

    mutating func line(_ text: String = "") {
        lines.append(text.isEmpty ? "" : indentation + text)
    }

    /// A blank line, unless there is one or a block has just begun.
    mutating func blank() {
        if let last = lines.last, !last.isEmpty, !last.hasSuffix("{") { lines.append("") }
    }

    /// A line with a brace, what is in it, and the brace that closes it.
    mutating func block(_ head: String, _ body: (inout SourceWriter) -> Void) {
        line(head + " {")
        indented(body)
        line("}")
    }

    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// A doc comment's first sentence, with a full stop.
    mutating func summary(_ text: String?) {
        guard let text, let last = text.last else { return }
        documentation(".!?:…".contains(last) ? text : text + ".")
    }

    /// Doc comment lines, filled to the width.
    mutating func documentation(_ text: String?, first: String = "", next: String = "") {
        guard let text, !text.isEmpty else { return }
        let room = Self.width - indentation.count - 4
        var row = first
        for word in text.split(separator: " ") {
            let isStart = row == first || row == next
            if !isStart, row.count + 1 + word.count > room {
                line("/// " + row)
                row = next
            }
            row += (row == first || row == next || row.isEmpty ? "" : " ") + word
        }
        line("/// " + row)
    }

    /// `head(arguments)tail`, in one line, or with each argument in its own.
    mutating func call(_ head: String, _ arguments: [Argument], _ tail: String = "") {
        let flat = head + "(" + arguments.map(\.flat).joined(separator: ", ") + ")" + tail
        let isShort = indentation.count + flat.count <= Self.width
        if isShort || arguments.isEmpty {
            line(flat)
            return
        }
        line(head + "(")
        indented { writer in
            for (index, argument) in arguments.enumerated() {
                writer.write(argument, index + 1 < arguments.count ? "," : "")
            }
        }
        line(")" + tail)
    }

    private mutating func write(_ argument: Argument, _ tail: String) {
        switch argument {
        case .text(let text): line(text + tail)
        case .list(let label, let elements):
            if indentation.count + argument.flat.count + tail.count <= Self.width {
                line(argument.flat + tail)
                return
            }
            line(label + "[")
            indented { writer in
                for element in elements { writer.line(element + ",") }
            }
            line("]" + tail)
        }
    }

    /// An argument of a call.
    enum Argument {
        case text(String)
        case list(String, [String])

        var flat: String {
            switch self {
            case .text(let text): text
            case .list(let label, let elements): label + "[" + elements.joined(separator: ", ") + "]"
            }
        }
    }
}
