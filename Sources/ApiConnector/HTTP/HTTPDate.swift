// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A date in a header field: one of the three forms of RFC 9110, section 5.6.7.
///
/// ```
/// Sun, 06 Nov 1994 08:49:37 GMT
/// Sunday, 06-Nov-94 08:49:37 GMT
/// Sun Nov  6 08:49:37 1994
/// ```
///
/// The parser does not guess at other formats, because a cache must treat a response with an invalid `Expires` as stale
/// (RFC 9111, section 5.3). Case does not matter (RFC 9111, section 4.2). The weekday is not compared with the date.
///
/// Dates are 64-bit seconds since 1970. `Int` has 32 bits on watch devices, and can only represent dates until January
/// 2038.
enum HTTPDate {
    /// Parses a date as seconds since 1970; nil for a text that is not a date.
    ///
    /// - Parameter now: Decides the century of a two-digit year: the date is at most 50 years after `now`.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        var reader = Reader(rest: text.lowercased()[...])
        let dayName = reader.letters()
        if shortDays.contains(dayName) {
            return reader.skip(", ") ? reader.fixedDate() : reader.skip(" ") ? reader.dateOfC() : nil
        }
        return longDays.contains(dayName) && reader.skip(", ") ? reader.shortDate(now) : nil
    }

    private static let shortDays: [Substring] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays: [Substring] = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
}

/// Parses the text after the weekday.
///
/// A function returns nil or false if the text does not match.
private struct Reader {
    var rest: Substring

    private static let months: [Substring] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Parses `06 Nov 1994 08:49:37 GMT`.
    mutating func fixedDate() -> Int64? {
        guard let day = number(2), skip(" "), let month = month(), skip(" "), let year = number(4), skip(" "),
            let seconds = time(), skip(" gmt"), rest.isEmpty
        else { return nil }
        return date(year, month, day, seconds)
    }

    /// Parses `06-Nov-94 08:49:37 GMT`.
    mutating func shortDate(_ now: Int64) -> Int64? {
        guard let day = number(2), skip("-"), let month = month(), skip("-"), let year = number(2), skip(" "),
            let seconds = time(), skip(" gmt"), rest.isEmpty
        else { return nil }
        let currentYear = now / Self.secondsPerYear + 1970
        let near = currentYear / 100 * 100 + 100 + year
        // The year 00 has a 29 February only in some centuries.
        return [near, near - 100, near - 200].compactMap { date($0, month, day, seconds) }
            .first { $0 - now <= 50 * Self.secondsPerYear }
    }

    /// 365.2425 days.
    private static let secondsPerYear: Int64 = 31_556_952

    /// Parses `Nov  6 08:49:37 1994`, the format of C's `asctime`.
    mutating func dateOfC() -> Int64? {
        guard let month = month(), skip(" "), let day = skip(" ") ? number(1) : number(2), skip(" "),
            let seconds = time(), skip(" "), let year = number(4), rest.isEmpty
        else { return nil }
        return date(year, month, day, seconds)
    }

    mutating func letters() -> Substring {
        let letters = rest.prefix { ("a"..."z").contains($0) }
        rest = rest[letters.endIndex...]
        return letters
    }

    mutating func skip(_ text: String) -> Bool {
        guard rest.hasPrefix(text) else { return false }
        rest = rest.dropFirst(text.count)
        return true
    }

    private mutating func month() -> Int64? {
        let name = letters()
        return Self.months.firstIndex(of: name).map { Int64($0) + 1 }
    }

    /// A number with exactly `digitCount` digits.
    private mutating func number(_ digitCount: Int) -> Int64? {
        let digits = rest.prefix(digitCount)
        let decimal = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard digits.utf8.count == digitCount, digits.utf8.allSatisfy(decimal.contains) else { return nil }
        rest = rest[digits.endIndex...]
        return Int64(digits)
    }

    /// The seconds since midnight; `60` is a leap second.
    private mutating func time() -> Int64? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }

    private func date(_ year: Int64, _ month: Int64, _ day: Int64, _ seconds: Int64) -> Int64? {
        HTTPDate.seconds(year, month, day, seconds)
    }
}

extension HTTPDate {
    /// Seconds since 1970 at a time of a day; nil if the month does not have the day.
    static func seconds(_ year: Int64, _ month: Int64, _ day: Int64, _ secondsOfDay: Int64) -> Int64? {
        let nextMonth = month == 12 ? (year + 1, 1) : (year, month + 1)
        let start = days(to: year, month, 1)
        guard day >= 1, start + day <= days(to: nextMonth.0, nextMonth.1, 1) else { return nil }
        return (start + day - 1) * 86_400 + secondsOfDay
    }

    /// Days since 1 January 1970 in the Gregorian calendar.
    ///
    /// The year starts in March here, so that the leap day is its last day.
    private static func days(to year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Shifted by 400 years, which have 146,097 days, to avoid divisions of negative numbers.
        let shifted = (month <= 2 ? year - 1 : year) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468 - 146_097
    }

    /// The date of a day in the Gregorian calendar, counted from 1 January of the year 0.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // Counted from 1 March of the year -400: then the leap day is the last day of its year, and of its cycle.
        let shifted = day - 60 + 146_097
        let dayOfCycle = shifted % 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = shifted / 146_097 * 400 + yearOfCycle - 400
        return (month < 10 ? year : year + 1, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }
}
