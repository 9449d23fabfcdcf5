// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

@testable import ApiConnector

struct HTTPDateTests {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    /// Doubles, because an `Int` has 32 bits on watch devices.
    private static let dates: [(text: String, seconds: Double)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ("Sat, 31 Dec 2022 00:00:00 GMT", 1_672_444_800),
        ("SUN, 06 nov 1994 08:49:37 gmt", 784_111_777),
        ("sunday, 06-NOV-94 08:49:37 GMT", 784_111_777),
        ("sun nov 16 08:49:37 1994", 784_975_777),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400.0),
        // Two digits: never more than 50 years ahead.
        ("Tuesday, 01-Jan-75 00:00:00 GMT", 3_313_526_400.0),
        ("Saturday, 01-Jan-77 00:00:00 GMT", 220_924_800),
        // The first and the last date, and those beside the last one of 32 bits.
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799.0),
        ("Tue, 19 Jan 2038 03:14:07 GMT", 2_147_483_647),
        ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648.0),
    ]

    @Test(arguments: dates) func reads(_ text: String, seconds: Double) {
        #expect(HTTPDate.date(text, now: Self.now)?.timeIntervalSince1970 == seconds)
    }

    /// A year of two digits is at most 50 years ahead, to the second.
    @Test func takesTheCenturyFromTheGivenTime() {
        let text = "Friday, 01-Jan-75 00:00:00 GMT"
        let year2075: Int64 = 3_313_526_400
        let fiftyYears: Int64 = 1_577_847_600
        #expect(HTTPDate.seconds(text, now: year2075 - fiftyYears) == year2075)
        #expect(HTTPDate.seconds(text, now: year2075 - fiftyYears - 1) == 157_766_400)
        #expect(HTTPDate.seconds(text, now: year2075) == year2075)
        #expect(HTTPDate.date(text, now: Date(timeIntervalSince1970: .infinity)) != nil)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "-1 -1 -1 -1 -1 GMT",
        "Sun, 06 Nov 1994 08::37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        // Separators and years of another form, or of none.
        "Thu, 01-Jan-70 00:00:01 GMT", "Thursday, 01 Jan 1970 00:00:01 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 94", "Sun Nov 06 08:49:37 1994 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "Tuesday, 01 Jan 2030 00:00:00 GMT", "0", "-1",
        // Days that the month does not have.
        "Sun, 31 Feb 2024 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 29 Feb 2100 08:49:37 GMT",
        "Sun, 31 Apr 2024 08:49:37 GMT", "Sun, 00 Apr 2024 08:49:37 GMT",
    ])
    func refuses(_ text: String) {
        #expect(HTTPDate.date(text, now: Self.now) == nil)
    }

    @Test func agreesWithTheCalendarOnEveryDay() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        calendar.locale = Locale(identifier: "en_US_POSIX")
        let months = calendar.shortMonthSymbols
        var count = 0
        for day in stride(from: -10_000, to: 60_000, by: 7) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let (year, month, day) = (try #require(parts.year), try #require(parts.month), try #require(parts.day))
            let text = "Sun, \(day < 10 ? "0" : "")\(day) \(months[month - 1]) \(year) 00:00:00 GMT"
            #expect(HTTPDate.date(text, now: Self.now) == date)
            count += 1
        }
        #expect(count == 10_000)
    }
}
