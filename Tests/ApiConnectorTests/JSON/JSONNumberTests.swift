// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct JSONNumberTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let json: String
        let text: String
        let reason: String
        var testDescription: String { reason }

        init(_ json: String, _ text: String, _ reason: String) {
            self.json = json
            self.text = text
            self.reason = reason
        }
    }

    static let rows = [
        Row("0", "0", "zero"),
        Row("-0.0", "0", "JSON's minus zero equals zero"),
        Row("9007199254740993", "9007199254740993", "2^53 + 1, the first that a double rounds"),
        Row("-9223372036854775808", "-9223372036854775808", "Int64.min"),
        Row("18446744073709551615", "18446744073709551615", "UInt64.max"),
        Row("18446744073709551616", "18446744073709551616", "and one more"),
        Row("170141183460469231731687303715884105727", "170141183460469231731687303715884105727", "Int128.max"),
        Row("99999999999999999999999999999999999999", "99999999999999999999999999999999999999", "38 digits"),
        Row("1.152921504606847e+18", "1152921504606847000", "an exponent does not make it a double"),
        Row("123456789012345678901234567890123456789012345", "1.2345678901234567e+44", "beyond, the nearest double"),
        Row("1.0", "1", "a whole number has no fraction"),
        Row("1e2", "100", "nor an exponent"),
        Row("1e23", "100000000000000000000000", "10^23, and not the double's 99999999999999991611392"),
        Row("0.1", "0.1", "a tenth"),
        Row("12345678901234567890.12", "12345678901234567890.12", "more digits than a double has"),
        Row("1e-200", "1e-200", "smaller than a decimal can be"),
        Row("1.2345678901234e-120", "1.2345678901234e-120", "or where a decimal would drop digits"),
        Row("90071992547409930e-1", "9007199254740993", "2^53 + 1 by way of an exponent"),
        Row("1.7976931348623157e308", "1.7976931348623157e+308", "the greatest double"),
    ]

    @Test(arguments: rows)
    func readsAndWritesWithoutRounding(_ row: Row) throws {
        let number = try JSONDecoder().decode(JSONNumber.self, from: Data(row.json.utf8))
        #expect(number.description == row.text)
        let written = try JSONEncoder().encode(number)
        #expect(String(decoding: written, as: UTF8.self) == row.text)
        #expect(try JSONDecoder().decode(JSONNumber.self, from: written) == number)
        #expect(try JSONDecoder().decode(JSONNumber.self, from: Data(row.text.utf8)).hashValue == number.hashValue)
    }

    @Test func refusesNumbersThatNoTypeHolds() throws {
        for json in ["1e400", "-1e400"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONNumber.self, from: Data(json.utf8)) }
        }
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
        #expect(JSONNumber(Decimal.nan) == nil)
    }

    @Test func equalsNumbersOfTheSameValue() throws {
        #expect(JSONNumber(1) == JSONNumber(1.0))
        #expect(JSONNumber(UInt8(1)) == JSONNumber(Decimal(1)))
        #expect(JSONNumber(0.1) == JSONNumber(try #require(Decimal(string: "0.10"))))
        #expect(JSONNumber(1e23) == JSONNumber(try #require(Decimal(string: "1e23"))))
        #expect(JSONNumber(1.5e38) == JSONNumber(150_000_000_000_000_000_000_000_000_000_000_000_000 as Int128))
        #expect(JSONNumber(UInt64.max) != JSONNumber(Double(UInt64.max)))
        #expect(JSONNumber(0x1p60)?.description == "1152921504606847000")
        #expect(JSONNumber(1) != JSONNumber(2))
    }

    @Test func neverRoundsAnInteger() throws {
        #expect(JSONNumber(UInt64.max).integer(as: UInt64.self) == .max)
        #expect(JSONNumber(UInt64.max).integer(as: Int.self) == nil)
        #expect(JSONNumber(256).integer(as: UInt8.self) == nil)
        #expect(JSONNumber(-1).integer(as: UInt.self) == nil)
        #expect(JSONNumber(1.5)?.integer(as: Int.self) == nil)
        #expect(JSONNumber(1e300)?.integer(as: Int128.self) == nil)
        #expect(JSONNumber(UInt128.max).double == 0x1p128)
    }

    @Test func givesTheNearestDoubleAndTheDecimal() throws {
        let exact = try #require(Decimal(string: "12345678901234567890.12"))
        let long = try #require(JSONNumber(exact))
        #expect(long.double == 12_345_678_901_234_567_890.12)
        #expect(long.decimal?.description == "12345678901234567890.12")
        #expect(JSONNumber(0.1)?.decimal == Decimal(string: "0.1"))
        #expect(JSONNumber(UInt64.max).decimal?.description == "18446744073709551615")
        #expect(JSONNumber(1e200)?.decimal == nil)
    }
}
