// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Lines of Swift in the layout of swift-format: indentation by 4 spaces, 120 columns, and one argument per line if the
/// arguments do not fit on one line.
struct SourceWriter {
    static let width = 120

    private(set) var lines: [String] = []
    private var depth = 0

    private var indentation: String { String(repeating: "    ", count: depth) }

    mutating func line(_ text: String = "") {
        lines.append(text.isEmpty ? "" : indentation + text)
    }

    /// Adds a blank line, unless there already is one or a block has just begun.
    mutating func blank() {
        if let last = lines.last, !last.isEmpty, !last.hasSuffix("{") { lines.append("") }
    }

    /// Adds one line.
    ///
    /// If it does not fit, its end goes to its own indented line.
    mutating func line(_ start: String, breakBefore end: String) {
        if fits(start + " " + end) {
            line(start + " " + end)
        } else {
            line(start)
            indented { $0.line(end) }
        }
    }

    /// Adds a condition that opens a block, with one part per line if the parts do not fit on one line.
    mutating func condition(_ head: String, _ parts: [String]) {
        if fits(head + " " + parts.joined(separator: ", ") + " {") {
            line(head + " " + parts.joined(separator: ", ") + " {")
            return
        }
        line(head + " " + parts[0] + (parts.count > 1 ? "," : ""))
        indented { writer in
            for part in parts.dropFirst().dropLast() { writer.line(part + ",") }
            if parts.count > 1, let last = parts.last { writer.line(last) }
        }
        line("{")
    }

    /// Adds a case of a switch with its patterns, with one pattern per line if the patterns do not fit on one line.
    mutating func patterns(_ patterns: [String], _ body: (head: String, argument: String)) {
        let flat = "case " + patterns.joined(separator: ", ") + ":"
        let whole = flat + " " + body.head + "(" + body.argument + ")"
        if fits(whole) {
            line(whole)
            return
        }
        self.patterns(patterns)
        indented { $0.call(body.head, [.text(body.argument)]) }
    }

    /// Adds a case of a switch whose statements are on the next lines.
    mutating func patterns(_ patterns: [String]) {
        let flat = "case " + patterns.joined(separator: ", ") + ":"
        if fits(flat) {
            line(flat)
            return
        }
        for (index, pattern) in patterns.enumerated() {
            let text = pattern + (index + 1 < patterns.count ? "," : ":")
            if index == 0 { line("case " + text) } else { indented { $0.line(text) } }
        }
    }

    func fits(_ text: String) -> Bool { indentation.count + text.count <= Self.width }

    /// Adds a line with an opening brace, the block's lines, and the closing brace.
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

    /// Adds the first sentence of a doc comment, with a period at its end.
    mutating func summary(_ text: String?) {
        guard let text, let last = text.last else { return }
        documentation(".!?:…".contains(last) ? text : text + ".")
    }

    /// Adds lines of a doc comment, wrapped at the width.
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

    /// Adds `head(arguments)tail` on one line, or with one argument per line.
    mutating func call(_ head: String, _ arguments: [Argument], _ tail: String = "") {
        let flat = head + "(" + arguments.map(\.flat).joined(separator: ", ") + ")" + tail
        // swift-format reserves space for a comma after the last element of a list.
        let hasList = arguments.contains(where: \.isList)
        if fits(flat + (hasList ? "," : "")) {
            line(flat)
            return
        }
        if arguments.isEmpty, let open = tail.firstIndex(of: "<"), let close = tail.lastIndex(of: ">") {
            line(head + "()" + tail[...open])
            indented { $0.line(String(tail[tail.index(after: open)..<close])) }
            line(String(tail[close...]))
            return
        }
        if arguments.isEmpty {
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
            if fits(argument.flat + ",") {
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

        var isList: Bool {
            if case .list = self { true } else { false }
        }

        var flat: String {
            switch self {
            case .text(let text): text
            case .list(let label, let elements): label + "[" + elements.joined(separator: ", ") + "]"
            }
        }
    }
}
