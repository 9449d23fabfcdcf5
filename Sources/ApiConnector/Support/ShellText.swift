// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Quotes values as words of a POSIX shell command (POSIX.1-2017, Shell Command Language, section 2.2).
enum ShellText {
    private static let plain = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")

    /// A word that the shell passes on as the value; NUL, which arguments cannot contain, is left out.
    ///
    /// Control characters would affect the terminal when they are pasted, so `printf` writes them.
    static func word(_ value: String) -> String {
        guard isTypeable(value) else {
            // The shell removes line feeds at the end of a command's output.
            let feeds = value.utf8.reversed().prefix { $0 == UInt8(ascii: "\n") }.count
            let written = printf(value.utf8.dropLast(feeds).filter { $0 != 0 })
            return "\"$(\(written))\"" + (feeds > 0 ? quoted(String(repeating: "\n", count: feeds)) : "")
        }
        return !value.isEmpty && plain.containsAll(of: value) ? value : quoted(value)
    }

    /// A command that writes any bytes to its output.
    static func printf(_ bytes: [UInt8]) -> String {
        let isText = String(validating: bytes, as: UTF8.self) != nil
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): format += "%%".utf8
            case UInt8(ascii: "\\"): format += "\\\\".utf8
            case UInt8(ascii: "\n"): format += "\\n".utf8
            case UInt8(ascii: "-") where index == 0: format += octal(byte)
            case 0..<0x20, 0x7F: format += octal(byte)
            case 0x80... where !isText: format += octal(byte)
            default: format.append(byte)
            }
        }
        return "printf " + quoted(String(decoding: format, as: UTF8.self))
    }

    /// Whether a value can be pasted unchanged: no control characters except line feeds.
    static func isTypeable(_ value: String) -> Bool {
        value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control || $0 == "\n" }
    }

    private static func quoted(_ value: String) -> String {
        // Works on bytes: a quote with a combining accent is another Character, but still a quote to the shell.
        var bytes: [UInt8] = [UInt8(ascii: "'")]
        for byte in value.utf8 {
            if byte == UInt8(ascii: "'") { bytes += "'\\'".utf8 }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "'"))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func octal(_ byte: UInt8) -> [UInt8] {
        let digit = { (shift: UInt8) in UInt8(ascii: "0") + (byte >> shift & 7) }
        return [UInt8(ascii: "\\"), digit(6), digit(3), digit(0)]
    }
}
