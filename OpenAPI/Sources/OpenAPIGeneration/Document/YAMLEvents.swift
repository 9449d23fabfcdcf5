// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

internal import CYaml

/// A step of reading a YAML file: a value without parts, or the start or the end of something with parts.
struct YAMLEvent {
    enum Kind {
        /// A value that is not an object or a list. `isText` is true if it is quoted, a block, or tagged `!!str`.
        case scalar(String, isText: Bool)
        case alias(of: String)
        case listStart
        case objectStart
        /// The end of an object, a list, or a document.
        case end
        case documentStart
        case fileEnd
    }

    let kind: Kind
    let anchor: String?
    let line: Int
    let column: Int

    /// The text of a scalar; nil for any other event.
    var text: String? {
        if case .scalar(let text, _) = kind { text } else { nil }
    }
}

/// Reads a YAML file with libyaml, one event after the other.
///
/// The library Yams contains libyaml. Yams' own parser builds a tree of the whole file and compares names of any type, so
/// a small file can take gigabytes or hours. With events, the reader can stop at each value. Two costs of libyaml grow
/// with the square of the size, so files that have them are refused first: long runs of white space, and `%TAG`.
final class YAMLEvents {
    private let file: String
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    // libyaml stores the parser's address.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    init(_ text: String, file: String) {
        self.file = file
        bytes = .allocate(capacity: text.utf8.count)
        _ = bytes.initialize(from: text.utf8)
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        yaml_parser_initialize(parser)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        bytes.deallocate()
    }

    /// The next event.
    func next() throws(DocumentError) -> YAMLEvent {
        var event = yaml_event_t()
        defer { yaml_event_delete(&event) }
        repeat {
            guard yaml_parser_parse(parser, &event) == 1 else { throw problem }
        } while event.type == YAML_STREAM_START_EVENT
        let kind: YAMLEvent.Kind
        var anchor: UnsafeMutablePointer<yaml_char_t>?
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            anchor = scalar.anchor
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            let isText = scalar.style != YAML_PLAIN_SCALAR_STYLE || Self.string(scalar.tag) == YAML_STR_TAG
            kind = .scalar(text, isText: isText)
        case YAML_ALIAS_EVENT: kind = .alias(of: Self.string(event.data.alias.anchor) ?? "")
        case YAML_SEQUENCE_START_EVENT:
            anchor = event.data.sequence_start.anchor
            kind = .listStart
        case YAML_MAPPING_START_EVENT:
            anchor = event.data.mapping_start.anchor
            kind = .objectStart
        case YAML_DOCUMENT_START_EVENT: kind = .documentStart
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: kind = .fileEnd
        default: kind = .end
        }
        let start = event.start_mark
        return YAMLEvent(kind: kind, anchor: Self.string(anchor), line: start.line + 1, column: start.column + 1)
    }

    private var problem: DocumentError {
        let text = parser.pointee.problem.map { ": " + PlainText.line(String(cString: $0)) } ?? ""
        let sentence = "the YAML is not valid\(text)"
        let place = parser.pointee.problem_mark
        guard parser.pointee.error == YAML_READER_ERROR else {
            return DocumentError(file: file, line: place.line + 1, column: place.column + 1, sentence)
        }
        // The problem of a character that YAML forbids has only an offset.
        let (line, column) = Self.place(after: bytes.prefix(parser.pointee.problem_offset))
        return DocumentError(file: file, line: line, column: column, sentence)
    }

    /// Refuses what takes libyaml a time that grows with the square of the file's size.
    func checkCosts() throws(DocumentError) {
        var spaceCount = 0
        for (offset, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "%"), Self.startsTagDirective(bytes[offset...]) {
                throw refusal("it has the directive %TAG", at: offset)
            }
            spaceCount = Self.isPartOfSpace(byte) ? spaceCount + 1 : 0
            if spaceCount > Self.maximumSpaceCount {
                let sentence = "it has more than \(Self.maximumSpaceCount) spaces and line breaks in a row"
                throw refusal(sentence, at: offset)
            }
        }
    }

    private static let maximumSpaceCount = 1_000

    /// Whether the bytes can be a directive; the start of its line may be one of several characters.
    private static func startsTagDirective(_ bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Bool {
        bytes.starts(with: "%TAG ".utf8) || bytes.starts(with: "%TAG\t".utf8)
    }

    /// Whether a byte is a space, a tab, or a part of one of YAML's line breaks (also of U+0085, U+2028 and U+2029).
    private static func isPartOfSpace(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, 0xC2, 0x85, 0xE2, 0x80, 0xA8, 0xA9: true
        default: false
        }
    }

    private func refusal(_ sentence: String, at offset: Int) -> DocumentError {
        let (line, column) = Self.place(after: bytes.prefix(offset))
        return DocumentError(file: file, line: line, column: column, "the YAML is refused: \(sentence)")
    }

    private static func place(after bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> (line: Int, column: Int) {
        let lineStart = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (bytes.count { $0 == UInt8(ascii: "\n") } + 1, bytes.count - lineStart + 1)
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }
}
