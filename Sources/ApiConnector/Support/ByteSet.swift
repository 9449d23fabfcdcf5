// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A set of ASCII bytes; other bytes are never members.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    /// Bit *n* of `low` is byte *n*; bit *n* of `high` is byte 64 + *n*.
    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ members: String) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        for byte in members.utf8 {
            if byte < 64 {
                low |= 1 << UInt64(byte)
            } else if byte < 128 {
                high |= 1 << UInt64(byte - 64)
            }
        }
        self.low = low
        self.high = high
    }

    func contains(_ byte: UInt8) -> Bool {
        let half = byte < 64 ? low : high
        return byte < 128 && half &>> UInt64(byte & 63) & 1 != 0
    }

    func containsAll(of text: String) -> Bool {
        var text = text
        return text.withUTF8(containsAll)
    }

    func containsAll(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in bytes where !contains(byte) { return false }
        return true
    }
}

extension ByteSet {
    private static let letterText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private static let digits = "0123456789"

    // The sets that every request uses are written as numbers, which the compiler stores in the program. Each use of a
    // set made from text would go through `swift_once`, which takes a tenth of the time of `URL(string:)`.

    /// The unescaped characters of a value in a path or a query: letters, digits and `-._~` ("unreserved" in RFC 3986,
    /// section 2.3).
    static let unreserved = ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)

    /// The unescaped characters of a router's own text in a path: "pchar" in RFC 3986, section 3.3, and the slash.
    ///
    /// These are the unreserved characters and `!$&'()*+,;=:@/`.
    static let pathText = ByteSet(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)

    /// The unescaped characters of an encoded query: those of a path, and the question mark ("query" in RFC 3986,
    /// section 3.4).
    static let queryText = ByteSet(low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)

    /// The unescaped characters of a form: "application/x-www-form-urlencoded percent-encode set" in the WHATWG URL
    /// standard.
    static let formText = ByteSet(letterText + digits + "*-._")

    /// A plain host name: letters, digits, hyphen, dot, and the underscore that some networks use.
    static let plainHost = ByteSet(low: 0x03FF_6000_0000_0000, high: 0x07FF_FFFE_87FF_FFFE)

    /// The characters after a URL's host and port: the beginning of a path, a query or a fragment.
    static let hostEnd = ByteSet(low: 0x8000_8008_0000_0000, high: 0)

    /// "token" in RFC 9110, section 5.6.2: methods and field names.
    static let token = ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)

    static let letters = ByteSet(letterText)

    static let alphanumerics = ByteSet(letterText + digits)

    static let decimalDigits = ByteSet(low: 0x03FF_0000_0000_0000, high: 0x0000_0000_0000_0000)

    static let hexadecimalDigits = ByteSet(digits + "ABCDEFabcdef")
}

extension String {
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
