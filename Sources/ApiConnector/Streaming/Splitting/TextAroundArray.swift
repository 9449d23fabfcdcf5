// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

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
