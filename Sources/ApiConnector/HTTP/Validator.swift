// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The validator of a resource's version: an entity tag, or else a date (RFC 9110, section 8.8).
struct Validator: Sendable, Hashable {
    /// The value of the field, for use in `If-Range`.
    let text: String

    /// Whether equal validators mean equal bytes (RFC 9110, section 8.8.1), which `If-Range` requires.
    let isStrong: Bool

    /// The validator in a response's fields; nil if there is no valid one.
    ///
    /// A date is used only if there is no entity tag (RFC 9110, section 13.1.5). The date is strong only if the
    /// response was generated at least a second later, because two changes within a second have the same date (section
    /// 8.8.2.2).
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

    /// Parses a date that is only compared with another date, so the century of a two-digit year does not matter.
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
