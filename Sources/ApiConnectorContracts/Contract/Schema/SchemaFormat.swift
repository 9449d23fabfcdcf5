// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The formats of strings that are checked.
enum SchemaFormat: String {
    case dateTime = "date-time"
    case date, uuid, ipv4, byte
    case uri

    func fits(_ text: String) -> Bool {
        switch self {
        case .dateTime: return Self.isDateTime(text)
        case .date: return Self.matches(text, #"^\d{4}-\d\d-\d\d$"#) && Self.isDay(text[...])
        case .uuid: return UUID(uuidString: text) != nil
        case .ipv4: return Self.matches(text, #"^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}$"#) && !text.hasSuffix(".")
        case .byte: return Data(base64Encoded: text) != nil
        case .uri: return Self.matches(text, #"^[A-Za-z][A-Za-z0-9+.-]*:[^\s]*$"#)
        }
    }

    /// The format is that of RFC 3339, which the connection's decoder reads.
    private static func isDateTime(_ text: String) -> Bool {
        guard let json = try? JSONEncoder().encode([text]) else { return false }
        return (try? dateDecoder.decode([Date].self, from: json)) != nil
    }

    private static let dateDecoder = JSONCoding(dates: .iso8601).makeDecoder()

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        SchemaPattern(pattern)?.matches(text) ?? true
    }

    private static func isDay(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, 1...12 ~= parts[1] else { return false }
        let isLeap = parts[0] % 4 == 0 && (parts[0] % 100 != 0 || parts[0] % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...lengths[parts[1] - 1] ~= parts[2]
    }
}
