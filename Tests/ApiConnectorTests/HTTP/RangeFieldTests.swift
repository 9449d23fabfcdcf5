// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct RangeFieldTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", 0..<1, 1), ("bytes 0-99/1000", 0..<100, 1000), ("bytes 900-999/1000", 900..<1000, 1000),
            ("Bytes 7-9/*", 7..<10, nil), ("BYTES 0-0/1", 0..<1, 1), ("bytes */47", nil, 47), ("bytes */0", nil, 0),
        ] as [(String, Range<Int>?, Int?)]
    )
    func readsContentRange(_ text: String, _ range: Range<Int>?, _ total: Int?) {
        let field = ContentRange(text)
        #expect(field != nil)
        #expect(field?.range == range)
        #expect(field?.totalByteCount == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-0", "bytes 0-0/", "bytes 0-/1", "bytes -0/1", "bytes 1-0/9", "bytes 0-9/9",
        "bytes 0-9/5", "bytes */*", "items 0-0/1", "bytes=0-0/1", "bytes 0-0/1/2", "bytes 0-0-0/1", "bytes +0-0/1",
        "bytes 0-0/+1", "bytes  0-0/1", "bytes 0-9223372036854775807/*", "bytes 0-0/99999999999999999999",
        "bytes 0-٣/9",
    ])
    func refusesAnInvalidContentRange(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test(
        arguments: [
            (["ETag": "\"a\""], "\"a\"", true), (["ETag": "\"\""], "\"\"", true),
            (["ETag": "W/\"a\""], "W/\"a\"", false),
            (["ETag": "W/\"a\"", "Last-Modified": day(1), "Date": day(2)], "W/\"a\"", false),
            (["Last-Modified": day(1), "Date": day(2)], day(1), true),
            (["Last-Modified": day(1), "Date": day(1)], day(1), false),
            (["Last-Modified": day(1)], day(1), false),
        ] as [(HTTPHeaders, String, Bool)]
    )
    func readsAValidator(_ headers: HTTPHeaders, _ text: String, _ isStrong: Bool) {
        let validator = Validator(headers)
        #expect(validator?.text == text)
        #expect(validator?.isStrong == isStrong)
    }

    @Test(
        arguments: [
            [:], ["ETag": "a"], ["ETag": "\"a"], ["ETag": "\""], ["ETag": "w/\"a\""], ["ETag": "\"a b\""],
            ["ETag": "\"a\"b\""], ["ETag": "a", "Last-Modified": day(1), "Date": day(2)],
            ["Last-Modified": "yesterday"],
        ] as [HTTPHeaders]
    )
    func findsNoValidator(_ headers: HTTPHeaders) {
        #expect(Validator(headers) == nil)
    }

    private static func day(_ number: Int) -> String { "Mon, 0\(number) Jun 2026 10:00:00 GMT" }
}
