// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The form of a body in UTF-16 or UTF-32.
struct WideForm {
    /// The bytes of a code unit, 2 or 4.
    let width: Int
    let isBigEndian: Bool

    /// Nil for any other body.
    ///
    /// The byte order mark or the charset tells it. Without both, the first two units do: each has one byte of ASCII, and
    /// zero bytes at the same place. So an archive, a film or a message of gRPC, which also begin with zero bytes, are
    /// not taken for text.
    init?(of body: some Collection<UInt8>, _ mediaType: MediaType?) {
        let start = Array(body.prefix(8))
        let charset = mediaType?[parameter: "charset"]?.lowercased() ?? ""
        if let mark = Self.marks.first(where: { start.starts(with: $0.bytes) }) {
            (width, isBigEndian) = (mark.width, mark.isBigEndian)
        } else if let form = Self.forms.first(where: { Self.isASCII(start, $0.width, isBigEndian: $0.isBigEndian) }) {
            (width, isBigEndian) = form
        } else if !charset.isEmpty, !body.contains(0) {
            // JSON, a form or the like in UTF-16 has zero bytes. So the charset is wrong.
            return nil
        } else if charset.hasPrefix("utf-16") || charset == "ucs-2" || charset == "iso-10646-ucs-2" {
            // The standards differ in the byte order without a mark. The zero bytes of ASCII tell it.
            let evenZeroCount = body.enumerated().reduce(0) { count, byte in
                byte.element == 0 ? count + (byte.offset.isMultiple(of: 2) ? 1 : -1) : count
            }
            (width, isBigEndian) = (2, evenZeroCount > 0)
        } else if charset.hasPrefix("utf-32") || charset == "ucs-4" || charset == "iso-10646-ucs-4" {
            (width, isBigEndian) = (4, charset.hasSuffix("be"))
        } else {
            return nil
        }
    }

    /// The longer marks are first, because that of UTF-32 begins with that of UTF-16.
    private static let marks: [(bytes: [UInt8], width: Int, isBigEndian: Bool)] = [
        ([0xFF, 0xFE, 0, 0], 4, false), ([0, 0, 0xFE, 0xFF], 4, true),
        ([0xFF, 0xFE], 2, false), ([0xFE, 0xFF], 2, true),
    ]

    private static let forms: [(width: Int, isBigEndian: Bool)] = [(2, false), (2, true), (4, false), (4, true)]

    private static func isASCII(_ start: [UInt8], _ width: Int, isBigEndian: Bool) -> Bool {
        guard start.count >= 2 * width else { return false }
        return start.prefix(2 * width).enumerated().allSatisfy { index, byte in
            guard index % width == (isBigEndian ? width - 1 : 0) else { return byte == 0 }
            return 0x20..<0x7F ~= byte || 0x09...0x0D ~= byte
        }
    }

    /// The text, without its byte order mark.
    func text(of body: some Collection<UInt8>) -> String {
        let bytes = Array(body)
        let units = stride(from: 0, through: bytes.count - width, by: width).map { start in
            (0..<width).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + (isBigEndian ? $1 : width - 1 - $1)]) }
        }
        let own = units.first == 0xFEFF ? units.dropFirst() : units[...]
        return width == 4
            ? String(decoding: own, as: UTF32.self)
            : String(decoding: own.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
    }
}

extension Redactor {
    /// Whether a body seems to be in UTF-16 or UTF-32.
    static func isWide(_ body: some Collection<UInt8>, _ mediaType: MediaType?) -> Bool {
        WideForm(of: body, mediaType) != nil
    }

    /// Whether a body in UTF-16 or UTF-32 has a secret, which cannot be replaced in it.
    func hidesSecrets(in body: some Collection<UInt8>, _ mediaType: MediaType?) -> Bool {
        guard let text = Self.inUTF8(body, mediaType: mediaType) else { return false }
        return redact(text, in: place(of: text, mediaType)).map { $0 != text } ?? false
    }
}
