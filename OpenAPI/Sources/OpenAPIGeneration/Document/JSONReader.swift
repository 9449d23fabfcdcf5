// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import Foundation

/// Reads JSON (RFC 8259) into a tree with lines and columns.
struct JSONReader {
    private let bytes: [UInt8]
    private let file: String
    private let limits: DocumentLimits
    private var position = 0
    private var line = 1
    private var lineStart = 0
    private(set) var valueCount = 0

    init(_ data: Data, file: String, limits: DocumentLimits) {
        bytes = Array(data)
        self.file = file
        self.limits = limits
    }

    mutating func read() throws(DocumentError) -> Node {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let node = try value(depth: 0)
        skipSpace()
        if position < bytes.count { throw error("there is text after the end of the document") }
        node.file = file
        return node
    }

    private func error(_ sentence: String) -> DocumentError {
        DocumentError(file: file, line: line, column: position - lineStart + 1, "the JSON is not valid: \(sentence)")
    }

    /// The error of a document that is valid, and over a limit.
    private func refusal(_ sentence: String) -> DocumentError {
        DocumentError(file: file, line: line, column: position - lineStart + 1, "the JSON is refused: \(sentence)")
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x0A:
                line += 1
                lineStart = position + 1
            case 0x20, 0x09, 0x0D: break
            default: return
            }
            position += 1
        }
    }

    private mutating func value(depth: Int) throws(DocumentError) -> Node {
        skipSpace()
        guard depth <= limits.depth else {
            throw refusal("the document is nested more than \(limits.depth) levels deep")
        }
        valueCount += 1
        guard valueCount <= limits.valueCount else { throw refusal(limits.valueCountSentence) }
        let place = (line: line, column: position - lineStart + 1)
        let content: Node.Content
        switch next {
        case UInt8(ascii: "{"): content = .object(try members(depth: depth))
        case UInt8(ascii: "["): content = .array(try elements(depth: depth))
        case UInt8(ascii: "\""): content = .string(try text())
        case UInt8(ascii: "t"): content = try literal("true", .bool(true))
        case UInt8(ascii: "f"): content = try literal("false", .bool(false))
        case UInt8(ascii: "n"): content = try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte:
            content = .number(try number())
        case nil: throw error("the text ends where a value is expected")
        case let byte?: throw error("a value cannot start with \(shown(byte))")
        }
        return Node(content, line: place.line, column: place.column)
    }

    private func shown(_ byte: UInt8) -> String {
        0x21..<0x7F ~= byte ? "'\(Character(Unicode.Scalar(byte)))'" : "the byte \(byte)"
    }

    private mutating func literal(_ text: StaticString, _ content: Node.Content) throws(DocumentError) -> Node.Content {
        let length = text.utf8CodeUnitCount
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: length)
        guard position + length <= bytes.count, bytes[position..<(position + length)].elementsEqual(wanted) else {
            throw error("expected true, false or null")
        }
        position += length
        return content
    }

    private mutating func members(depth: Int) throws(DocumentError) -> [Node.Member] {
        var members: [Node.Member] = []
        var keys: Set<String> = []
        position += 1
        skipSpace()
        if next == UInt8(ascii: "}") {
            position += 1
            return members
        }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
            let key = try text()
            guard keys.insert(key).inserted else { throw error("the member \(quoted(key)) appears twice") }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw error("':' is missing after the name of a member") }
            position += 1
            members.append(Node.Member(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return members
            default: throw error("',' or '}' is missing after a member")
            }
        }
    }

    private mutating func elements(depth: Int) throws(DocumentError) -> [Node] {
        var elements: [Node] = []
        position += 1
        skipSpace()
        if next == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            switch next {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return elements
            default: throw error("',' or ']' is missing after an element")
            }
        }
    }

    private mutating func number() throws(DocumentError) -> String {
        let start = position
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false }
        func skipDigits() -> Int {
            let from = position
            while isDigit(next) { position += 1 }
            return position - from
        }
        if next == UInt8(ascii: "-") { position += 1 }
        let startsWithZero = next == UInt8(ascii: "0")
        let wholeCount = skipDigits()
        guard wholeCount > 0, !(startsWithZero && wholeCount > 1) else { throw error("a number is malformed") }
        if next == UInt8(ascii: ".") {
            position += 1
            guard skipDigits() > 0 else { throw error("a number is malformed") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard skipDigits() > 0 else { throw error("a number is malformed") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func text() throws(DocumentError) -> String {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if next == UInt8(ascii: "\"") {
            let plain = bytes[start..<position]
            position += 1
            guard let text = String(validating: plain, as: UTF8.self) else { throw error("a string is not UTF-8") }
            return text
        }
        return try escapedText(from: start)
    }

    private mutating func escapedText(from start: Int) throws(DocumentError) -> String {
        var text = Array(bytes[start..<position])
        while true {
            guard let byte = next else { throw error("a string does not end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else { throw error("a string is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): try text.append(contentsOf: Array(escape().utf8))
            case 0..<0x20: throw error("a control character in a string must be escaped")
            default: text.append(byte)
            }
        }
    }

    private mutating func escape() throws(DocumentError) -> String {
        guard let byte = next else { throw error("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            if 0xD800..<0xDC00 ~= units[0], position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                units.append(try codeUnit())
            }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw error("an escape is half of a surrogate pair")
            }
            return text
        default: throw error("unknown escape \\\(Character(Unicode.Scalar(byte)))")
        }
    }

    private mutating func codeUnit() throws(DocumentError) -> UInt16 {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        // `UInt16(_:radix:)` alone accepts a sign.
        guard digits.count == 4, digits.allSatisfy(\.isHexDigit), let unit = UInt16(digits, radix: 16) else {
            throw error("an escape \\u needs four hexadecimal digits")
        }
        position += 4
        return unit
    }
}

/// Quotes and shortens a text for an error message.
func quoted(_ text: String) -> String {
    let isLong = text.count > 80
    return "\"" + PlainText.line(isLong ? text.prefix(80) + "…" : text) + "\""
}
