// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Prints lines.
enum Console {
    static func line(_ text: String) {
        write("\(clearing)\(text)\n", to: .standardOutput)
    }

    /// Prints a line that the next line replaces.
    ///
    /// Prints nothing if there is no terminal.
    static func progress(_ text: String) {
        if isWatched { write("\(clearing)\(text)", to: .standardOutput) }
    }

    static func error(_ text: String) {
        write("\(text)\n", to: .standardError)
    }

    private static let isWatched = isatty(STDOUT_FILENO) == 1
    private static let clearing = isWatched ? "\r\u{1B}[K" : ""

    private static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
