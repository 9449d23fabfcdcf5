// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The kept part of the JSON text around an array, in which the array is empty.
///
/// Of a member of the top-level object whose text, object or array is longer than 64 KiB, the content is not kept:
/// `"included":[…]` becomes `"included":[]`. So a large member neither takes memory nor hides an error next to it.
struct TextAroundArray: Sendable {
    private(set) var data = Data()
    private var scanner = JSONScanner()
    private var isInObject = false
    /// The index in `data` after the opening quote or bracket of a key or value in the top-level object; nil outside.
    private var contentStart: Int?
    private var isDropping = false

    private static let maximumContentByteCount = 64 * 1024

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
                if isDropping { data.append(bytes[end - 1]) }
                isDropping = false
                contentStart = nil
                place = end
            case .separator(let end), .closed(let end):
                keep(bytes[place...end])
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
        guard let start = contentStart, data.count + bytes.count - start > Self.maximumContentByteCount else {
            data.append(contentsOf: bytes)
            return
        }
        isDropping = true
        data.append(contentsOf: bytes.prefix(max(0, start - data.count)))
        data.removeSubrange(start...)
    }

    private static func isOpening(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
    }
}
