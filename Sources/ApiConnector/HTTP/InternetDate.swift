// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A date with time and offset in the format of RFC 3339, section 5.6, such as `2016-11-21T01:00:00.5+01:00`.
///
/// The parser reads the whole grammar and nothing else:
///
/// - `T` and `Z` may be in lower case, and a space may replace `T`: the notes of that section allow both.
/// - A fraction has one digit or more, after a dot.
/// - The date exists in the Gregorian calendar. The hour 24 does not exist.
/// - Second 60 is allowed as the last second of a month in UTC. It is the same time as the first second of the next
///   month.
///
/// The formats of ISO 8601 that RFC 3339 leaves out are refused: `+0200`, a comma, a date without time.
enum InternetDate {
    /// The date; nil for any other text.
    static func date(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return reader.date()
        }
    }

    /// The text of a date in UTC; nil for a date outside of the years 0 to 9999.
    ///
    /// The calendar is the Gregorian one for all years. Foundation uses the Julian calendar before 1582.
    ///
    /// - Parameter hasMilliseconds: Whether the date is rounded to milliseconds. If not, the fraction of the second is
    ///   omitted.
    static func text(_ date: Date, hasMilliseconds: Bool = false) -> String? {
        let exact = date.timeIntervalSince1970
        let unit: Int64 = hasMilliseconds ? 1000 : 1
        // The double for a time in milliseconds is often slightly too small.
        let rounded = hasMilliseconds ? (exact * 1000).rounded() : exact.rounded(.down)
        let shift: Int64 = 62_167_219_200 * unit
        guard let time = Int64(exactly: rounded), -shift..<253_402_300_800 * unit ~= time else { return nil }
        // Counted from the year 0, so that no number is negative.
        let (days, timeOfDay) = (time + shift).quotientAndRemainder(dividingBy: 86_400 * unit)
        let (year, month, day) = HTTPDate.date(ofDay: days)
        let second = timeOfDay / unit
        let fraction = hasMilliseconds ? ".\(digits(timeOfDay % unit, 3))" : ""
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
            + "T\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2)):\(digits(second % 60, 2))\(fraction)Z"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }
}

private struct Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func date() -> Date? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            skip("T") || skip(" "),
            let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            1...12 ~= month, hour < 24, minute < 60, second <= 60, let fraction = fraction(), let offset = offset(),
            index == bytes.count,
            let start = HTTPDate.seconds(year, month, day, (hour * 60 + minute) * 60 + second - offset)
        else { return nil }
        if second == 60 {
            let isEndOfMonth = [(year, month), month == 12 ? (year + 1, 1) : (year, month + 1)].contains {
                HTTPDate.seconds($0.0, $0.1, 1, 0) == start
            }
            guard isEndOfMonth else { return nil }
        }
        return Date(timeIntervalSince1970: Double(start) + fraction)
    }

    /// A number with exactly `digitCount` digits.
    private mutating func number(_ digitCount: Int) -> Int64? {
        guard bytes.count - index >= digitCount else { return nil }
        var number: Int64 = 0
        for byte in bytes[index..<index + digitCount] {
            guard ByteSet.decimalDigits.contains(byte) else { return nil }
            number = number * 10 + Int64(byte & 0x0F)
        }
        index += digitCount
        return number
    }

    /// Skips a character; a letter may be in lower case.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        let wanted = UInt8(ascii: character)
        guard index < bytes.count, bytes[index] == wanted || wanted > 0x40 && bytes[index] == wanted | 0x20 else {
            return false
        }
        index += 1
        return true
    }

    /// The fraction of a second; 0 if there is none, nil for a dot without digits.
    private mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let start = index
        var value: Int64 = 0
        var scale = 1.0
        while index < bytes.count, ByteSet.decimalDigits.contains(bytes[index]) {
            // More digits make no difference in a `Double`.
            if index - start < 18 {
                value = value * 10 + Int64(bytes[index] & 0x0F)
                scale *= 10
            }
            index += 1
        }
        return index > start ? Double(value) / scale : nil
    }

    /// The offset from UTC in seconds.
    private mutating func offset() -> Int64? {
        if skip("Z") { return 0 }
        let isAhead = skip("+")
        guard isAhead || skip("-"), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60
        else { return nil }
        return (isAhead ? 60 : -60) * (hour * 60 + minute)
    }
}
