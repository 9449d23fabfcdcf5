// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Dates in header fields (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The seconds since 1970 of a date in the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Nil for any other text, the two obsolete forms included. The name of the day is not checked against the date.
    static func seconds(_ text: String) -> Int? {
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].count == 4, parts[0].last == UInt8(ascii: ","),
            parts[5].elementsEqual("GMT".utf8),
            let day = number(parts[1], digits: 2),
            let month = months.firstIndex(where: { parts[2].elementsEqual($0.utf8) }),
            let year = number(parts[3], digits: 4)
        else { return nil }
        let clock = parts[4].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { number($0, digits: 2) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            1...31 ~= day, hour < 24, minute < 60, second <= 60
        else { return nil }
        return ((days(year, month + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    /// The days since 1970 of a date in the Gregorian calendar; years begin with March here, so that the leap day is last.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    private static func number(_ text: Substring.UTF8View, digits: Int) -> Int? {
        guard text.count == digits, text.allSatisfy(ByteSet.decimalDigits.contains) else { return nil }
        return Int(Substring(text))
    }
}
