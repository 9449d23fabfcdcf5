// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Finds the elements of an array in a JSON text while it arrives.
///
/// Before and after the array, only strings and brackets are parsed; the elements are checked by their decoder.
/// Containers can be nested ``JSONScanner/maximumDepth`` deep, including those around the array.
struct ArrayFinder: RecordFinder {
    private enum Phase {
        /// Before the body's value, or before the value of a key on the path.
        case value
        /// After the `{` of an object on the path.
        case firstKey
        /// After a `,` in an object on the path.
        case key
        /// Within a key's quotes.
        case keyText
        case colon(leadsOn: Bool)
        /// Within a value that is not on the path; ends at its `,` or `}`.
        case otherValue
        case firstElement
        case nextElement
        case element
        /// After an element with a closing character.
        case separator
        /// After the array, in the text around it.
        case tail
        case done
    }

    private var phase = Phase.value
    private var path: JSONKeyPath
    private var scanner = JSONScanner()

    /// The text around the array; nil if it is not kept.
    private(set) var around: TextAroundArray?
    private let maximumAroundByteCount: Int

    /// - Parameters:
    ///   - path: The keys that lead to the array, separated by dots; empty for the whole text.
    ///   - maximumByteCount: The maximum size of the kept text around the array, in bytes; nil, the default, does not
    ///     keep this text.
    ///   - failureKey: The key of the backend's error in the text around the array. If it is known, the content of
    ///     other large members is not kept. Nil by default.
    init(path: String, keepingAroundUpTo maximumByteCount: Int? = nil, failureKey: String? = nil) {
        self.path = JSONKeyPath(path)
        around = maximumByteCount.map { _ in TextAroundArray(failureKey: failureKey) }
        maximumAroundByteCount = maximumByteCount ?? 0
    }

    mutating func cut(_ chunk: UnsafeRawBufferPointer, from start: Int) -> RecordCut {
        guard around != nil else { return search(chunk, from: start) }
        let wasAround = isAround
        let cut = search(chunk, from: start)
        switch cut {
        case .skip(let end) where wasAround || isAround:
            return keep(UnsafeRawBufferPointer(rebasing: chunk[start..<end])) ?? cut
        // The bracket after the last element.
        case .record(_, let next) where isAround:
            return keep(UnsafeRawBufferPointer(rebasing: chunk[next - 1..<next])) ?? cut
        default:
            return cut
        }
    }

    /// Whether the next byte is outside of the array and its brackets.
    private var isAround: Bool {
        switch phase {
        case .firstElement, .nextElement, .element, .separator: false
        default: true
        }
    }

    /// Keeps bytes of the text around the array; returns the error if the kept text is too long.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> RecordCut? {
        around?.append(bytes)
        guard let around, around.data.count > maximumAroundByteCount else { return nil }
        let limit = "the limit of \(maximumAroundByteCount) bytes"
        return .tooLarge("the text around the JSON array is longer than \(limit)")
    }

    private mutating func search(_ chunk: UnsafeRawBufferPointer, from start: Int) -> RecordCut {
        var place = start
        while place < chunk.count {
            let byte = chunk[place]
            switch phase {
            case .element:
                switch scanner.scan(chunk, from: place) {
                case .running:
                    return .needsBytes
                case .ended(let end):
                    phase = .separator
                    return .record(end: end, next: end)
                case .separator(let end):
                    phase = .nextElement
                    return .record(end: end, next: end + 1)
                case .closed(let end):
                    leaveArray()
                    return .record(end: end, next: end + 1)
                case .flaw(let place, let text):
                    return .flawInRecord(at: place, text)
                }
            case .otherValue, .tail:
                switch scanner.scan(chunk, from: place) {
                case .running: place = chunk.count
                case .ended(let end): place = end
                case .separator(let end):
                    if case .otherValue = phase { phase = .key }
                    place = end + 1
                case .closed(let end):
                    if case .otherValue = phase { return missing(at: end) }
                    leaveArray()
                    place = end + 1
                case .flaw(let place, let text): return .flaw(at: place, text)
                }
            case .keyText:
                switch path.readKey(chunk, from: &place) {
                case .running: break
                case .ended(let matches): phase = .colon(leadsOn: matches)
                }
            case _ where byte.isJSONSpace:
                place += 1
            case .firstElement, .nextElement:
                if place > start { return .skip(to: place) }
                if let cut = element(byte, place) { return cut }
                place += 1
            default:
                if let flaw = step(byte, place) { return flaw }
                place += 1
            }
        }
        return .skip(to: place)
    }

    func flawAtEnd() -> String? {
        if case .done = phase { nil } else { "the JSON text is incomplete" }
    }

    /// Handles a byte where an element may begin; returns nil at the end of the array.
    private mutating func element(_ byte: UInt8, _ place: Int) -> RecordCut? {
        switch (byte, phase) {
        case (UInt8(ascii: "]"), .firstElement):
            scanner.close()
            leaveArray()
            return nil
        case (UInt8(ascii: "]"), _), (UInt8(ascii: ","), _):
            return .flaw(at: place, "an element of the JSON array is missing")
        default:
            phase = .element
            scanner.startValue()
            return .skip(to: place)
        }
    }

    /// Handles a byte on the path to the array, or after an element.
    private mutating func step(_ byte: UInt8, _ place: Int) -> RecordCut? {
        switch (phase, byte) {
        case (.separator, UInt8(ascii: ",")):
            phase = .nextElement
        case (.separator, UInt8(ascii: "]")):
            scanner.close()
            leaveArray()
        case (.separator, UInt8(ascii: "}")):
            return .flaw(at: place, JSONScanner.unopened)
        case (.value, UInt8(ascii: "[")) where path.isAtEnd:
            guard scanner.open(byte) else { return .flaw(at: place, JSONScanner.tooDeep) }
            phase = .firstElement
        case (.value, UInt8(ascii: "{")) where !path.isAtEnd:
            guard scanner.open(byte) else { return .flaw(at: place, JSONScanner.tooDeep) }
            phase = .firstKey
        case (.firstKey, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")):
            path.startKey()
            phase = .keyText
        case (.colon(leadsOn: true), UInt8(ascii: ":")):
            path.descend()
            phase = .value
        case (.colon(leadsOn: false), UInt8(ascii: ":")):
            scanner.startValue()
            phase = .otherValue
        case (.value, _), (.firstKey, UInt8(ascii: "}")):
            return missing(at: place)
        case (.done, _):
            return .flaw(at: place, "more bytes follow the JSON text")
        default:
            return .flaw(at: place, "the JSON text is malformed")
        }
        return nil
    }

    /// Continues after the closing bracket of a container.
    private mutating func leaveArray() {
        scanner.startValue()
        phase = scanner.depth == 0 ? .done : .tail
    }

    private func missing(at place: Int) -> RecordCut {
        let name = path.text.isEmpty ? "the body is not a JSON array" : "the body has no array at \"\(path.text)\""
        return .flaw(at: place, name)
    }
}

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

/// The kept part of the JSON text around an array, in which the array is empty.
///
/// If the key of the backend's error is known, the content of any other large member of the top-level object is not
/// kept: of a text, an object or an array of more than 64 KiB. `"included":[…]` becomes `"included":[]`. So such a
/// member neither takes memory nor hides an error next to it.
///
/// Without a known key, each member may be a part of the error, so the whole text is kept.
struct TextAroundArray: Sendable {
    private(set) var data = Data()
    private var scanner = JSONScanner()
    private var isInObject = false
    /// The index in `data` after the opening quote or bracket of a key or value in the top-level object; nil outside.
    private var contentStart: Int?
    private var isDropping = false
    /// Whether the next string is a key.
    private var isBeforeKey = true
    /// Whether the current member may be the backend's error.
    private var mayBeFailure = false
    private let failureKey: [UInt8]?

    private static let maximumContentByteCount = 64 * 1024

    /// - Parameter failureKey: The key of the backend's error in the top-level object, as JSON without the quotes; nil
    ///   if it is not known.
    init(failureKey: String?) {
        self.failureKey = failureKey.map { Array($0.utf8) }
    }

    /// Appends bytes, whose brackets must match.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        if !isInObject {
            place = min(bytes.place(of: UInt8(ascii: "{"), from: 0) + 1, bytes.count)
            data.append(contentsOf: bytes[..<place])
            guard place > 0, bytes[place - 1] == UInt8(ascii: "{") else { return }
            isInObject = scanner.open(UInt8(ascii: "{"))
            scanner.startValue()
        }
        while place < bytes.count {
            switch scanner.scan(bytes, from: place) {
            case .ended(let end):
                keep(bytes[place..<end])
                if isBeforeKey { mayBeFailure = !isDropping && isFailureKey }
                isBeforeKey = false
                if isDropping { data.append(bytes[end - 1]) }
                isDropping = false
                contentStart = nil
                place = end
            case .separator(let end), .closed(let end):
                keep(bytes[place...end])
                isBeforeKey = true
                mayBeFailure = false
                place = end + 1
            case .running, .flaw:
                keep(bytes[place...])
                place = bytes.count
            }
        }
    }

    /// Keeps the bytes of one key or value, or drops its content.
    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard !isDropping else { return }
        if contentStart == nil, let opening = bytes.firstIndex(where: Self.isOpening) {
            contentStart = data.count + opening + 1 - bytes.startIndex
        }
        // The closing quote or bracket counts, too.
        guard failureKey != nil, !mayBeFailure, let start = contentStart,
            data.count + bytes.count - start > Self.maximumContentByteCount + 1
        else {
            data.append(contentsOf: bytes)
            return
        }
        isDropping = true
        data.append(contentsOf: bytes.prefix(max(0, start - data.count)))
        data.removeSubrange(start...)
    }

    /// Whether the key at the end of the kept text is the key of the backend's error; also true if it has an escape.
    private var isFailureKey: Bool {
        guard let failureKey, let start = contentStart else { return false }
        let key = data[start...].dropLast()
        return key.elementsEqual(failureKey) || key.contains(UInt8(ascii: "\\"))
    }

    private static func isOpening(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
    }
}
