// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a server calls the version of a resource that it sent: an entity tag, else a date (RFC 9110, section 8.8).
struct Validator: Sendable, Hashable {
    /// The value of the field it came in, as `If-Range` repeats it.
    let text: String

    /// Whether the same validator means the same bytes (RFC 9110, section 8.8.1); `If-Range` may hold no other.
    let isStrong: Bool

    /// The validator in a response's fields; nil where there is none that can be read.
    ///
    /// A date counts only where there is no entity tag (RFC 9110, section 13.1.5), and is strong only where the
    /// response was made at least a second later: what changes twice within a second has one date (section 8.8.2.2).
    init?(_ headers: HTTPHeaders) {
        if let tag = headers[.etag] {
            isStrong = !tag.hasPrefix("W/")
            guard Self.isOpaqueTag(isStrong ? tag[...] : tag.dropFirst(2)) else { return nil }
            text = tag
        } else {
            guard let date = headers[.lastModified], let changed = Self.date(date) else { return nil }
            isStrong = headers["Date"].flatMap(Self.date).map { $0 > changed } ?? false
            text = date
        }
    }

    /// A date that is only compared with another one, so that the century of an old form does not matter.
    private static func date(_ text: String) -> Date? {
        HTTPDate.date(text, now: Date(timeIntervalSince1970: 0))
    }

    /// RFC 9110, section 8.8.3, "opaque-tag".
    private static func isOpaqueTag(_ text: Substring) -> Bool {
        let bytes = text.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
            return false
        }
        return bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }
}
