// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct FormRefusalTests {
    // Unchecked, because `next` can be set. The only test that closes a circle does it before it shares the object.
    final class Circle: Encodable, @unchecked Sendable {
        var next: Circle?
    }

    struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws { throw CocoaError(.featureUnsupported) }
    }

    static let rows: [FormRow] = [
        FormRow(
            5,
            "Int, does not encode as a form: at the top level, a value of type Int: it is one text without a name; "
                + "put it into a struct",
            "a number alone"
        ),
        FormRow(
            Filter.Sorting.newest,
            "Sorting, does not encode as a form: at the top level, a value of type Sorting: it is one text without a "
                + "name; put it into a struct",
            "an enum alone"
        ),
        FormRow(
            [Pair(b: 1)],
            "Array<Pair>, does not encode as a form: at the top level, a value of type Array<Pair>: it is an array, "
                + "whose elements have no names; put it into a struct",
            "an array alone"
        ),
        FormRow(
            Field([["x": [1, Double.nan]]]),
            "Field<Array<Dictionary<String, Array<Double>>>>, does not encode as a form: at \"a[0].x[1]\", a value of "
                + "type Double: it is not a finite number, which a form cannot represent",
            "NaN, deep inside"
        ),
        FormRow(
            Field(["a", "b,c"]),
            "Field<Array<String>>, does not encode as a form: at \"a[1]\": an element contains a comma, which would "
                + "split it in two; use another array style",
            as: FormEncoding(arrays: .comma),
            "a comma between commas"
        ),
        FormRow(
            Field([UUID(): 1]),
            "Field<Dictionary<UUID, Int>>, does not encode as a form: at \"a\", a value of type Dictionary<UUID, Int>: "
                + "its keys are neither String nor Int, and cannot be written as text",
            "keys that are no text"
        ),
        FormRow(
            Field(Date(timeIntervalSince1970: 253_402_300_800)),
            "Field<Date>, does not encode as a form: at \"a\", a value of type Date: "
                + "RFC 3339 has dates of the years 0 to 9999 only",
            "the year 10000"
        ),
    ]

    @Test(arguments: rows)
    func namesTypeAndPlace(_ row: FormRow) throws {
        let error = try #require(throws: ApiConnectorError.self) {
            try RequestBody.form(row.value, as: row.encoding).data()
        }
        #expect(error.kind == .encodingFailed)
        #expect(error.stage == .request)
        #expect(error.detail == "the body, a value of type \(row.text)")
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func refusesInfiniteNumbersAndNaN(_ number: Float) {
        let values: [any Encodable & Sendable] = [
            Field(number), Field(Double(number)), Field(Date(timeIntervalSince1970: Double(number))),
        ]
        for style in [FormEncoding.DateStyle.iso8601, .secondsSince1970, .millisecondsSince1970] {
            for value in values {
                let error = #expect(throws: ApiConnectorError.self) {
                    try RequestBody.form(value, as: FormEncoding(dates: style)).data()
                }
                #expect(error?.kind == .encodingFailed)
            }
        }
    }

    @Test func refusesADecimalThatIsNaN() {
        #expect(throws: ApiConnectorError.self) { try RequestBody.form(Field(Decimal.nan)).data() }
    }

    @Test func refusesAValueThatHoldsItself() throws {
        let circle = Circle()
        circle.next = circle
        let error = try #require(throws: ApiConnectorError.self) { try RequestBody.form(circle).data() }
        #expect(error.detail.hasSuffix("it is nested more than 100 levels deep"))
        circle.next = nil
    }

    @Test func keepsTheErrorOfTheValueItself() throws {
        let error = try #require(throws: ApiConnectorError.self) { try RequestBody.form(Failing()).data() }
        #expect(error.kind == .encodingFailed)
        #expect((error.underlying as? CocoaError)?.code == .featureUnsupported)
    }
}
