// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The keys that lead to a value in a JSON text, and the reader's position on that path.
struct JSONKeyPath: Sendable {
    enum Progress {
        case running
        case ended(matches: Bool)
    }

    /// The keys, separated by dots.
    let text: String

    private let keys: [[UInt8]]
    private var position = 0
    /// The bytes of the current key, as long as it can still match.
    private var key: [UInt8] = []
    private var isEscaped = false
    private var hasEscape = false

    init(_ text: String) {
        self.text = text
        keys = text.utf8.split(separator: UInt8(ascii: ".")).map { Array($0) }
    }

    var isAtEnd: Bool { position == keys.count }

    mutating func startKey() {
        key = []
        isEscaped = false
        hasEscape = false
    }

    mutating func descend() {
        position += 1
    }

    /// Reads up to and including the quote that ends the key.
    mutating func readKey(_ chunk: UnsafeRawBufferPointer, from place: inout Int) -> Progress {
        while place < chunk.count {
            let byte = chunk[place]
            place += 1
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                return .ended(matches: isWanted)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                hasEscape = true
            }
            if key.count <= longest { key.append(byte) }
        }
        return .running
    }

    /// Six bytes, `\u0041`, can encode one byte.
    private var longest: Int { 6 * keys[position].count }

    private var isWanted: Bool {
        guard key.count <= longest else { return false }
        guard hasEscape else { return key == keys[position] }
        let quoted = [UInt8(ascii: "\"")] + key + [UInt8(ascii: "\"")]
        guard let plain = try? JSONDecoder().decode(String.self, from: Data(quoted)) else { return false }
        return Array(plain.utf8) == keys[position]
    }
}
