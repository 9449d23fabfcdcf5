// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct FormTableTests {
    static let strings: [FormRow] = [
        FormRow(Field("azAZ09*-._"), "a=azAZ09*-._", "the WHATWG's serializer keeps these"),
        FormRow(Field("a b"), "a=a+b", "a space is a plus"),
        FormRow(Field("a+b"), "a=a%2Bb", "so a plus is not"),
        FormRow(Field("~!'()"), "a=%7E%21%27%28%29", "unreserved in RFC 3986, but not kept in a form"),
        FormRow(Field("&=%#?/:@,;$"), "a=%26%3D%25%23%3F%2F%3A%40%2C%3B%24", "nothing can leave its value"),
        FormRow(Field("[x]\"<>\\^`{|}"), "a=%5Bx%5D%22%3C%3E%5C%5E%60%7B%7C%7D", "the rest of ASCII that shows"),
        FormRow(Field("\u{0}\t\r\n\u{7F}"), "a=%00%09%0D%0A%7F", "and what does not; no line break is changed"),
        FormRow(Field("é€🐶"), "a=%C3%A9%E2%82%AC%F0%9F%90%B6", "UTF-8, byte by byte"),
        FormRow(Field("e\u{301}"), "a=e%CC%81", "no normalization"),
        FormRow(Field(""), "a=", "an empty text is not nil"),
        FormRow(["a b&=": "x"], "a+b%26%3D=x", "names are encoded as values are"),
    ]

    static let scalars: [FormRow] = [
        FormRow(Field(true), "a=true", "a Boolean as JSON writes it"),
        FormRow(Field([true, false]), "a=1&a=0", as: FormEncoding(booleans: .oneZero), "or as a number"),
        FormRow(Field(Int64.min), "a=-9223372036854775808", "the least integer"),
        FormRow(Field(UInt64.max), "a=18446744073709551615", "the greatest"),
        FormRow(Field(UInt8.max), "a=255", "a small type"),
        FormRow(Field(Int128.max), "a=170141183460469231731687303715884105727", "128 bits"),
        FormRow(Field(1.0), "a=1", "a whole double as JSON writes it"),
        FormRow(Field(0.1), "a=0.1", "the shortest text that reads back"),
        FormRow(Field(Float(0.1)), "a=0.1", "a float by its own digits, not a double's"),
        FormRow(Field(1e22), "a=1e%2B22", "the plus of an exponent is data"),
        FormRow(Field(-0.0), "a=-0", "the sign of zero is kept"),
        FormRow(Field(Decimal(string: "12345678901234567890.12")), "a=12345678901234567890.12", "a decimal exactly"),
        FormRow(Field(URL(string: "https://x.test/a?b=c")), "a=https%3A%2F%2Fx.test%2Fa%3Fb%3Dc", "a URL as its text"),
        FormRow(
            Field(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
            "a=E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
            "a UUID as its text"
        ),
        FormRow(Field(Filter.Sorting.byName), "a=by+name", "an enum by its raw value"),
        FormRow(Field(Data([0xFB, 0xFF, 0x00, 0x0A])), "a=%2B%2F8ACg%3D%3D", "data as base64, its signs encoded"),
        FormRow(
            Field(Data([0xFB, 0xFF, 0x00, 0x0A])),
            "a=-_8ACg",
            as: FormEncoding(data: .base64URL),
            "or as base64url"
        ),
        FormRow(
            Field(Data([0xFB, 0xFF, 0x00, 0x0A])),
            "a=fbff000a",
            as: FormEncoding(data: .hexadecimal),
            "or as hex"
        ),
        FormRow(Field(Data()), "a=", "no data is an empty text"),
    ]

    private static let day = Date(timeIntervalSince1970: 1_479_686_400.5)

    static let dates: [FormRow] = [
        FormRow(Field(day), "a=2016-11-21T00%3A00%3A00Z", "ISO 8601, the fraction left out"),
        FormRow(
            Field(day),
            "a=1479686400.5",
            as: FormEncoding(dates: .secondsSince1970),
            "seconds with their fraction"
        ),
        FormRow(Field(day), "a=1479686400500", as: FormEncoding(dates: .millisecondsSince1970), "whole milliseconds"),
        FormRow(
            Field(Date(timeIntervalSince1970: -0.0004)),
            "a=-0",
            as: FormEncoding(dates: .millisecondsSince1970),
            "a fraction of a millisecond is rounded"
        ),
        FormRow(
            Field(Date(timeIntervalSince1970: 1e15)),
            "a=1e%2B18",
            as: FormEncoding(dates: .millisecondsSince1970),
            "a date that no integer is needed for"
        ),
        FormRow(
            Field(day),
            "a=2016-11-21",
            as: FormEncoding(dates: .formatted { $0.formatted(.iso8601.year().month().day()) }),
            "a format of the user's"
        ),
        FormRow(Field(Date.distantPast), "a=0000-12-30T00%3A00%3A00Z", "1 January 1 of the Julian calendar"),
    ]

    static let arrays: [FormRow] = [
        FormRow(Field([1, 2]), "a=1&a=2", "repeated by default"),
        FormRow(Field([1, 2]), "a%5B%5D=1&a%5B%5D=2", as: FormEncoding(arrays: .brackets), "brackets are encoded too"),
        FormRow(Field([1, 2]), "a%5B0%5D=1&a%5B1%5D=2", as: FormEncoding(arrays: .indexed), "indices from 0"),
        FormRow(Field([1, 2]), "a=1%2C2", as: FormEncoding(arrays: .comma), "one text"),
        FormRow(Field(["", ""]), "a=%2C", as: FormEncoding(arrays: .comma), "empty elements keep their comma"),
        FormRow(Field([Int]()), "", "an empty array has no text"),
        FormRow(Field([Int]()), "", as: FormEncoding(arrays: .comma), "with commas neither"),
        FormRow(Field([1, nil, 2]), "a=1&a=2", "nil is left out of an array"),
        FormRow(Field([1, nil, 2]), "a%5B0%5D=1&a%5B1%5D=2", as: FormEncoding(arrays: .indexed), "and leaves no gap"),
        FormRow(Field([nil, 2]), "a=2", as: FormEncoding(arrays: .comma), "nor a comma"),
        FormRow(Field([[1, 2], [3]]), "a%5B0%5D=1&a%5B0%5D=2&a%5B1%5D=3", "an array of arrays needs the outer index"),
        FormRow(
            Field([[1], [], [3]]),
            "a%5B0%5D%5B%5D=1&a%5B1%5D%5B%5D=3",
            as: FormEncoding(arrays: .brackets),
            "an element without a text takes no index"
        ),
        FormRow(Field([[1, 2]]), "a%5B0%5D=1%2C2", as: FormEncoding(arrays: .comma), "the inner array in its style"),
        FormRow(
            Field([Pair(b: 1, c: "x"), Pair(b: 2)]),
            "a%5B0%5D%5Bb%5D=1&a%5B0%5D%5Bc%5D=x&a%5B1%5D%5Bb%5D=2",
            "objects in an array keep apart in the default style"
        ),
        FormRow(
            Field([Pair(b: 1, c: "x"), Pair(b: 2)]),
            "a%5B0%5D%5Bb%5D=1&a%5B0%5D%5Bc%5D=x&a%5B1%5D%5Bb%5D=2",
            as: FormEncoding(arrays: .brackets),
            "and with brackets, as jQuery writes them"
        ),
        FormRow(
            Field([Pair(b: 1)]),
            "a%5B0%5D.b=1",
            as: FormEncoding(nestedKeys: .dots),
            "an index stays in brackets between dots, as ASP.NET and Spring read it"
        ),
        FormRow(Field(Set(["b", "c", "a"])), "a=a&a=b&a=c", "a set in the order of its texts"),
    ]

    static let objects: [FormRow] = [
        FormRow(Filter(), "text=pug+%26+cat&sort=by+name&limit=20&isOpen=true", "order of declaration, nil left out"),
        FormRow(Field(Pair(b: 1, c: "x")), "a%5Bb%5D=1&a%5Bc%5D=x", "nested keys in brackets"),
        FormRow(Field(Pair(b: 1, c: "x")), "a.b=1&a.c=x", as: FormEncoding(nestedKeys: .dots), "or after dots"),
        FormRow(Field(Field(Field(1))), "a%5Ba%5D%5Ba%5D=1", "three levels"),
        FormRow(Field(Field(Field(1))), "a.a.a=1", as: FormEncoding(nestedKeys: .dots), "three levels with dots"),
        FormRow(Field(Field([1, 2])), "a%5Ba%5D=1&a%5Ba%5D=2", "an array within an object"),
        FormRow(Field(Pair()), "", "an object without a text is left out"),
        FormRow(["c": 1, "a": 2, "b": 3], "a=2&b=3&c=1", "a dictionary in the order of its keys"),
        FormRow(Field([10: "x", 9: "y"]), "a%5B10%5D=x&a%5B9%5D=y", "integers as keys in the order of their texts"),
        FormRow(["page[size]": 5], "page%5Bsize%5D=5", "a key with brackets of its own stays as it is"),
        FormRow(["": 1], "=1", "an empty key"),
        FormRow([String: Int](), "", "an empty object is an empty form"),
        FormRow(Pair?.none, "", "and so is nil"),
        FormRow(["b": ["y": 1, "x": 2], "a": [:]] as JSONValue, "b%5Bx%5D=2&b%5By%5D=1", "JSON without a model"),
    ]

    @Test(arguments: strings + scalars + dates + arrays + objects)
    func writesByteForByte(_ row: FormRow) throws {
        #expect(try row.body == row.text)
    }

    @Test func writesTheSameTextInEachProcess() throws {
        let names = (0..<200).map { "k\($0)" }
        let text = try FormRow(Dictionary(uniqueKeysWithValues: zip(names, 0...)), "", "").body
        #expect(text == names.sorted().map { "\($0)=\($0.dropFirst())" }.joined(separator: "&"))
    }
}
