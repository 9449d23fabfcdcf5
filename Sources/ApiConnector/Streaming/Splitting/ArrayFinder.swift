// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The elements of one array in a JSON text, found while the text arrives.
///
/// Of what stands before and after the array only strings and brackets are read; the elements are their decoder's to
/// check. Containers may be ``JSONScanner/maximumDepth`` deep, those round the array included.
struct ArrayFinder: RecordFinder {
    private enum Phase {
        /// Before the value that the path leads to so far.
        case value
        /// Behind the `{` of an object on the path.
        case firstKey
        /// Behind the `,` of an object on the path.
        case key
        /// Within a key's quotes.
        case keyText
        case colon(leadsOn: Bool)
        /// Within a value beside the path; over at its `,` or `}`.
        case otherValue
        case firstElement
        case nextElement
        case element
        /// Behind an element that has shown its end.
        case separator
        /// Behind the array, in what stands round it.
        case tail
        case done
    }

    private var phase = Phase.value
    private var path: JSONKeyPath
    private var scanner = JSONScanner()

    /// - Parameter path: The keys that lead to the array, with dots between them; empty for the whole text.
    init(path: String) {
        self.path = JSONKeyPath(path)
    }

    mutating func cut(_ chunk: UnsafeRawBufferPointer, from start: Int) -> RecordCut {
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

    /// A byte where an element may begin; nil for the end of the array.
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

    /// A byte between the values and keys that lead to the array, or behind an element.
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

    /// Behind a bracket: one container less is open.
    private mutating func leaveArray() {
        scanner.startValue()
        phase = scanner.depth == 0 ? .done : .tail
    }

    private func missing(at place: Int) -> RecordCut {
        let name = path.text.isEmpty ? "the body is not a JSON array" : "the body has no array at \"\(path.text)\""
        return .flaw(at: place, name)
    }
}
