// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A date as header fields write it (RFC 9110, section 5.6.7): in the one form that is sent, and the two old ones.
enum HTTPDate {
    /// Reads a date; nil for a text that is none.
    ///
    /// - Parameter now: What a year of two digits is near to: it is never more than 50 years after this.
    static func date(_ text: String, now: Date) -> Date? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }
        switch words.count {
        case 6 where words[5] == "GMT": return date(year: words[3], words[2], day: words[1], words[4], now)
        case 5: return date(year: words[4], words[1], day: words[2], words[3], now)
        default: return nil
        }
    }

    private static func date(
        year yearText: Substring,
        _ monthName: Substring,
        day dayText: Substring,
        _ time: Substring,
        _ now: Date
    ) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number($0, digits: 2...2) }
        guard let month = months.firstIndex(of: monthName), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60, second <= 60,
            let day = number(dayText, digits: 1...2), (1...31).contains(day),
            let year = number(yearText, digits: 2...2) ?? number(yearText, digits: 4...4)
        else { return nil }
        func date(in year: Int) -> Date {
            let seconds = (hour * 60 + minute) * 60 + second
            return Date(timeIntervalSince1970: Double(days(to: year, month + 1, day) * 86_400 + seconds))
        }
        guard yearText.count == 2 else { return date(in: year) }
        let century = Int(now.timeIntervalSince1970 / 86_400 / 365.2425) + 1970
        let near = century / 100 * 100 + 100 + year
        return [near, near - 100, near - 200].map(date).first { $0.timeIntervalSince(now) <= 50 * 365.2425 * 86_400 }
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy(ByteSet.decimalDigits.contains) else { return nil }
        return Int(text)
    }

    /// Days since 1 January 1970 in the Gregorian calendar; a year here begins in March, so that its leap day is its
    /// last.
    private static func days(to year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
