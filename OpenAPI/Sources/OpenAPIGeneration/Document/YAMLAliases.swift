// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// Finds aliases in the names of members before the parser reads a file.
///
/// The parser compares names, so it could expand a name with nested aliases without end. The scan skips comments,
/// quoted strings and block strings, because a star in them does not start an alias.
struct YAMLAliases {
    /// The number of aliases that are harmless: even if they are nested, they expand to at most a few hundred thousand
    /// values.
    private static let harmlessCount = 32

    private let bytes: [UInt8]
    private var position = 0
    private var aliasCount = 0
    private var isAliasInKey = false
    private var hasAnchor = false

    /// Whether the expansion of a member's name in the file might never end.
    static func areDangerous(in data: Data) -> Bool {
        var scan = YAMLAliases(bytes: [UInt8](data))
        scan.run()
        return scan.hasAnchor && scan.isAliasInKey && scan.aliasCount > harmlessCount
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func run() {
        // Whether a value can start here. Only where a value can start, a quote, a star or an ampersand is YAML syntax.
        var startsValue = true
        var startsKey = false
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                startsValue = true
                startsKey = false
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                if peek == UInt8(ascii: "#") { skipLine() }
            case UInt8(ascii: "#") where startsValue: skipLine()
            case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "-"): startsValue = true
            case UInt8(ascii: "]"), UInt8(ascii: "}"): startsValue = false
            case UInt8(ascii: "?") where startsValue: startsKey = isSpace(peek)
            case UInt8(ascii: ":"):
                startsValue = true
                startsKey = false
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if startsValue { skipQuoted(byte) }
                startsValue = false
            case UInt8(ascii: "|"), UInt8(ascii: ">"):
                if startsValue { skipBlock() }
                startsValue = true
            case UInt8(ascii: "&") where startsValue:
                hasAnchor = true
                skipName()
            case UInt8(ascii: "!") where startsValue: skipName()
            case UInt8(ascii: "*") where startsValue:
                aliasCount += 1
                skipName()
                if startsKey || isFollowedByColon { isAliasInKey = true }
                startsValue = false
            default: startsValue = false
            }
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isSpace(_ byte: UInt8?) -> Bool { byte.map { " \t\r\n".utf8.contains($0) } ?? true }

    /// Whether a colon follows, after any closing brackets and spaces.
    private var isFollowedByColon: Bool {
        bytes[position...].first { !" \t]},".utf8.contains($0) } == UInt8(ascii: ":")
    }

    private mutating func skipLine() {
        while let byte = peek, byte != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func skipName() {
        while let byte = peek, !isSpace(byte), !",[]{}".utf8.contains(byte) {
            // In `*name: 1` the colon may follow immediately.
            if byte == UInt8(ascii: ":"), position + 1 >= bytes.count || isSpace(bytes[position + 1]) { return }
            position += 1
        }
    }

    private mutating func skipQuoted(_ quote: UInt8) {
        while let byte = peek {
            position += 1
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                position += 1
            } else if byte == quote {
                if quote == UInt8(ascii: "'"), peek == quote { position += 1 } else { return }
            }
        }
    }

    /// Skips the lines of a block string: the lines after its mark that are empty or indented deeper than the mark's
    /// line.
    private mutating func skipBlock() {
        let start = bytes[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let indentation = bytes[start...].prefix { $0 == UInt8(ascii: " ") }.count
        skipLine()
        while position < bytes.count {
            let line = bytes[(position + 1)...]
            let depth = line.prefix { $0 == UInt8(ascii: " ") }.count
            let first = position + 1 + depth < bytes.count ? bytes[position + 1 + depth] : UInt8(ascii: "\n")
            guard depth > indentation || first == UInt8(ascii: "\n") || first == UInt8(ascii: "\r") else { return }
            position += 1
            skipLine()
        }
    }
}
