// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A charset of the WHATWG Encoding Standard that Foundation supports on all systems, and UTF-32.
enum Charset {
    case utf8, utf16LittleEndian, utf16BigEndian, windows1252
    case foundation(String.Encoding)

    /// The charset of a body; nil for a label that is not supported.
    ///
    /// As in the standard's "decode", a byte order mark takes precedence over the label.
    init?(_ label: String, of body: Data) {
        if label != "utf-32", let marked = Self.marks.first(where: { body.starts(with: $0.bytes) }) {
            self = marked.charset
        } else if label.isEmpty {
            self = .utf8
        } else if let known = Self.labels.first(where: { $0.labels.split(separator: " ").contains(label[...]) }) {
            self = known.charset
        } else {
            return nil
        }
    }

    private static var marks: [(bytes: [UInt8], charset: Charset)] {
        [([0xEF, 0xBB, 0xBF], .utf8), ([0xFE, 0xFF], .utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian)]
    }

    /// The labels of the standard, section 4.2.
    private static var labels: [(labels: String, charset: Charset)] {
        [
            ("utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8", .utf8),
            (
                "windows-1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 latin1 l1 csisolatin1 "
                    + "us-ascii ascii ansi_x3.4-1968 cp1252 x-cp1252 cp819 ibm819",
                .windows1252
            ),
            ("utf-16 utf-16le unicode unicodefeff csunicode iso-10646-ucs-2 ucs-2", .utf16LittleEndian),
            ("utf-16be unicodefffe", .utf16BigEndian),
            (
                "iso-8859-2 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 iso-ir-101 latin2 l2 csisolatin2",
                .foundation(.isoLatin2)
            ),
            ("windows-1250 cp1250 x-cp1250", .foundation(.windowsCP1250)),
            ("windows-1251 cp1251 x-cp1251", .foundation(.windowsCP1251)),
            ("windows-1253 cp1253 x-cp1253", .foundation(.windowsCP1253)),
            (
                "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 "
                    + "latin5 l5 csisolatin5",
                .foundation(.windowsCP1254)
            ),
            (
                "shift_jis shift-jis sjis x-sjis csshiftjis ms932 ms_kanji windows-31j",
                .foundation(.shiftJIS)
            ),
            ("euc-jp x-euc-jp cseucpkdfmtjapanese", .foundation(.japaneseEUC)),
            ("iso-2022-jp csiso2022jp", .foundation(.iso2022JP)),
            ("utf-32", .foundation(.utf32)),
        ]
    }

    /// The text, with U+FFFD for invalid parts of UTF-8 and UTF-16; nil for bytes that another charset does not have.
    func text(of body: Data) -> String? {
        switch self {
        case .utf8: String(decoding: body, as: UTF8.self)
        case .utf16LittleEndian: Self.text(of: Array(body)) { UInt16($0) | UInt16($1) << 8 }
        case .utf16BigEndian: Self.text(of: Array(body)) { UInt16($0) << 8 | UInt16($1) }
        case .windows1252: String(String.UnicodeScalarView(body.map(Self.scalar)))
        case .foundation(let encoding): String(data: body, encoding: encoding)
        }
    }

    private static func text(of bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> String {
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        // Half a unit at the end.
        if !bytes.count.isMultiple(of: 2) { units.append(0xFFFD) }
        return String(decoding: units, as: UTF16.self)
    }

    /// The character of a byte; the five bytes that Windows does not define are control characters.
    private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard 0x80...0x9F ~= byte else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(windows[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
    }

    /// The characters of 0x80 to 0x9F.
    private static let windows: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]
}
