// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorOpenAPI
import Testing

/// A `DateTime` reads and writes `date-time` of RFC 3339, and a `Day` its `full-date`, and nothing else.
struct DateTests {
    private func read<Value: Decodable>(_ text: String, as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(text))
    }

    private func written(_ value: some Encodable) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    @Test(
        arguments: [
            ("2026-02-28T10:00:00Z", 1_772_272_800), ("2026-02-28T10:00:00.25Z", 1_772_272_800.25),
            ("2026-02-28t10:00:00z", 1_772_272_800), ("2026-02-28T12:00:00+02:00", 1_772_272_800),
            ("2026-02-28 10:00:00.123456-00:00", 1_772_272_800.123456), ("1960-01-01T00:00:00Z", -315_619_200),
            ("2026-02-28T10:00:00.500000000000000000000000000000001Z", 1_772_272_800.5),
            ("2026-02-27T23:30:00-10:30", 1_772_272_800), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("2016-12-31T15:59:60.5-08:00", 1_483_228_800.5),
            ("0000-01-01T00:00:00Z", -62_167_219_200.0), ("9999-12-31T23:59:59Z", 253_402_300_799.0),
        ] as [(String, Double)]
    )
    func dateTimesAreRead(_ text: String, _ seconds: Double) throws {
        #expect(try read(text, as: DateTime.self).date.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "2026", "2026-02-28", "2026-02-30T10:00:00Z", "2026-02-00T10:00:00Z", "2026-13-01T10:00:00Z",
        "2025-02-29T10:00:00Z", "2026-02-28T24:00:00Z", "2026-02-28T25:00:00Z", "2026-02-28T10:61:00Z",
        "2026-02-28T10:00:60Z", "2026-02-28T10:00:61Z", "2026-02-28T10:00Z", "2026-02-28T10:00:00",
        "2026-02-28T10:00:00.5", "2026-02-28T10:00:00.Z", "2026-02-28T10:00:00,5Z", "2026-02-28T10:00:00.５Z",
        "2026-02-28T10:00:00+2", "2026-02-28T10:00:00+02", "2026-02-28T10:00:00+0200", "2026-02-28T10:00:00+24:00",
        "2026-02-28T10:00:00+02:60", "2026-02-28T10:00:00+a0b2c0d0", "2026-02-28T10:00:00GMT+2",
        "2026-02-28T10:00:00\u{2212}02:00", "2026-02-28T10:00:00ZZ", "2026-02-28T10:00:00Z and more",
        "2026-02-28T10:00:00Z ", " 2026-02-28T10:00:00Z", "2026-02-28T10:00:00 Z", "2026/02/28T10:00:00Z",
        "2026-02-28_10:00:00Z", "2026-02-28T10-00-00Z", "20260228T100000Z", "026-002-28T10:00:00Z",
        "+2026-02-28T10:00:00Z", "12026-02-28T10:00:00Z", "２026-02-28T10:00:00Z",
        // A text is not JSON.
        #"\u0032026-02-28T10:00:00Z"#, #"2026-02-28T10:00:00Z""#, #"2026-02-28T10:00:00Z" ""#,
        "2026-02-28T10:00:00Z\0", "2026-02-28T10:00:00Z\n",
    ])
    func noOtherTextIsADateTime(_ text: String) throws {
        #expect(DateTime(text) == nil)
        let error = #expect(throws: DecodingError.self) { try read(text, as: DateTime.self) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "\(text) is not a DateTime")
    }

    @Test func aPartOfADateTimeIsNotADateTime() {
        for text in ["2026-02-28T10:00:00Z", "2026-02-28T10:00:00.25+01:30"] {
            #expect(DateTime(text) != nil)
            for count in 0..<text.count { #expect(DateTime(String(text.prefix(count))) == nil) }
        }
    }

    @Test func aDateIsWrittenWithoutLosingAMillisecond() throws {
        let seconds = ["1960-01-01T00:00:00", "1969-12-31T23:59:59", "2026-02-28T10:00:00", "2262-04-11T23:47:16"]
        var wrong: [String] = []
        for second in seconds {
            for number in 0..<1_000 {
                let fraction = number == 0 ? "" : "." + String(1_000 + number).dropFirst()
                let text = "\(second)\(fraction)Z"
                if try #require(DateTime(text)).description != text { wrong.append(text) }
            }
        }
        #expect(wrong.count == 0, "\(wrong.count) of \(seconds.count * 1_000), such as \(wrong.prefix(3))")
        #expect(DateTime("2026-02-28T10:00:00.123456Z")?.description == "2026-02-28T10:00:00.123456Z")
        #expect(DateTime("2026-02-28T10:00:00.9999999Z")?.description == "2026-02-28T10:00:01Z")
        #expect(try written(DateTime("2026-02-28T12:00:00.5+02:00")) == "2026-02-28T10:00:00.500Z")
    }

    /// RFC 3339 counts all years in the Gregorian calendar.
    ///
    /// Foundation writes dates before 1582 in the Julian calendar.
    @Test(arguments: [
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0000-02-29T23:59:59.999Z", "0999-12-31T23:59:59Z",
        "1500-02-28T00:00:00.001Z", "1500-03-01T00:00:00Z", "1582-10-14T23:59:59.500Z", "1582-10-15T00:00:00Z",
        "9999-12-31T23:59:59Z",
    ])
    func eachYearIsWrittenAsItWasRead(_ text: String) throws {
        let date = try #require(DateTime(text))
        #expect(date.description == text)
        #expect(try written(date) == .string(text))
    }

    @Test func aDayIsOneOfTheCalendar() throws {
        #expect(try read("2024-02-29", as: Day.self).description == "2024-02-29")
        #expect(try written(Day("0999-01-02")) == "0999-01-02")
        #expect(try written(Day("0000-02-29")) == "0000-02-29")
        #expect(Day(year: 10_000, month: 1, day: 1) == nil)
    }

    @Test(arguments: [
        "", "2023-02-29", "1900-02-29", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00", "2026-1-1", "26-01-01",
        "2026-001-01", "02026-01-01", "+2026-01-01", "-2026-01-01", "2026-+1-01", "2026--01-01", "2026-01-01-",
        "2026-01-01-x", "2026-x-01-01", "2026-01-01 ", " 2026-01-01", "2026-01-01Z", "2026-01-01T00:00:00Z",
        "20260101", "2026/01/01", "２026-01-01", "2026\u{2212}01-01",
    ])
    func noOtherTextIsADay(_ text: String) {
        #expect(Day(text) == nil)
    }

    @Test func daysAreInOrder() throws {
        let texts = ["0000-12-31", "1999-12-31", "2000-01-01", "2000-01-31", "2000-02-01", "2000-03-01"]
        let days = try texts.map { try #require(Day($0)) }
        #expect(days.reversed().sorted() == days)
        for (left, right) in zip(days, days.dropFirst()) { #expect(left < right && !(right < left)) }
        #expect(!(days[0] < days[0]))
    }

    @Test(arguments: ["12 apples", "1,234.50", "", "1e", "--1", "0x10"])
    func aTextThatOnlyStartsWithANumberIsNoDecimal(_ text: String) {
        #expect(DecimalText(text) == nil)
        #expect(throws: DecodingError.self) { try read(text, as: DecimalText.self) }
    }

    @Test(arguments: ["12": "12", "-1.50": "-1.5", "+3": "3", ".5": "0.5", "1e3": "1000"])
    func aDecimalTextIsANumber(_ text: String, _ number: String) throws {
        #expect(DecimalText(text)?.description == number)
        #expect(try written(read(text, as: DecimalText.self)) == .string(number))
    }

    @Test func aDecimalTextIsAlsoReadFromANumber() throws {
        #expect(try JSONDecoder().decode(DecimalText.self, from: Data("12.50".utf8)).value == 12.5)
    }
}
