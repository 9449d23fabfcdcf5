// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Emphasizes text with a terminal's colors, or not at all.
package struct TextStyle: Sendable {
    /// No emphasis; for a pipe, a file or a test.
    package static let plain = TextStyle(isColored: false)

    private let isColored: Bool

    private init(isColored: Bool) {
        self.isColored = isColored
    }

    /// Colors on a terminal, unless `NO_COLOR` is set to anything (https://no-color.org).
    package init(isTerminal: Bool, environment: [String: String]) {
        let isUnwanted = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        isColored = isTerminal && !isUnwanted
    }

    func good(_ text: String) -> String { with("32", text) }
    func bad(_ text: String) -> String { with("31", text) }
    func strong(_ text: String) -> String { with("1", text) }
    func faint(_ text: String) -> String { with("2", text) }
    func plainly(_ text: String) -> String { text }

    private func with(_ code: String, _ text: String) -> String {
        isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// The text padded to a column's width, with at least one space.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }

    /// The text in lines of at most `width` characters, broken at spaces; a longer word gets its own line.
    func wrapped(at width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let line = lines.last, line.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(line) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
