// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

struct RecordSplitterTests {
    /// Everything that comes out of a splitter, and what it fails with.
    private func records<Finder: RecordFinder>(
        _ finder: Finder,
        _ chunks: [Data],
        limit: Int = 1 << 20
    ) -> (records: [String], offsets: [Int], error: ApiConnectorError?) {
        var splitter = RecordSplitter(finder, maximumByteCount: limit)
        var records: [String] = []
        var offsets: [Int] = []
        func drain() throws(ApiConnectorError) {
            while let record = try splitter.next() {
                records.append(String(decoding: record, as: UTF8.self))
                offsets.append(splitter.recordOffset)
            }
        }
        do throws(ApiConnectorError) {
            for chunk in chunks {
                splitter.append(chunk)
                try drain()
            }
            splitter.end()
            try drain()
            return (records, offsets, nil)
        } catch {
            #expect((try? splitter.next()) == .some(nil), "nothing comes after an error")
            return (records, offsets, error)
        }
    }

    private static let lines: [(String, [String], [Int])] = [
        ("", [], []),
        ("\n", [""], [0]),
        ("a", ["a"], [0]),
        ("a\nb\n", ["a", "b"], [0, 2]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"], [0, 3, 5, 7, 8]),
        ("\r\r\n\n", ["", "", ""], [0, 1, 3]),
        ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"], [3, 5]),
        ("\u{FEFF}", [], []),
        ("é\u{FEFE}\n", ["é\u{FEFE}"], [0]),
    ]

    @Test(arguments: lines)
    func cutsLinesAtEveryKindOfEnd(_ text: String, _ expected: [String], _ offsets: [Int]) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(LineFinder(), chunks)
            #expect(found.error == nil)
            #expect(found.records == expected, "\(chunks.map(\.count))")
            #expect(found.offsets == offsets, "\(chunks.map(\.count))")
        }
    }

    @Test func keepsBytesThatOnlyStartLikeAByteOrderMark() {
        for bytes in [[0xEF], [0xEF, 0xBB], [0xEF, 0xBB, 0x41], [0xEF, 0x0A, 0xBF]] as [[UInt8]] {
            for chunks in Cuts.of(Data(bytes)) {
                var splitter = RecordSplitter(LineFinder(), maximumByteCount: 10)
                var found = Data()
                for chunk in chunks {
                    splitter.append(chunk)
                    while let record = try? splitter.next() { found += record }
                }
                splitter.end()
                while let record = try? splitter.next() { found += record }
                #expect(Array(found) == bytes.filter { $0 != 0x0A })
            }
        }
    }

    private static let delimited: [(String, [String], [Int])] = [
        ("{}\n{}\n", ["{}", "{}"], [0, 3]),
        ("\u{FEFF}\r\n\n 1\r\n\t\r\n \n2", ["1\r", "2"], [7, 15]),
        ("   ", [], []),
        ("[\n", ["["], [0]),
    ]

    @Test(arguments: delimited)
    func leavesBlankLinesOutBetweenJSONTexts(_ text: String, _ expected: [String], _ offsets: [Int]) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(JSONLineFinder(), chunks)
            #expect(found.records == expected, "\(chunks.map(\.count))")
            #expect(found.offsets == offsets, "\(chunks.map(\.count))")
        }
    }

    private static let sequences: [(String, [String], [Int])] = [
        ("\u{1E}1\n\u{1E}\u{1E} {\n}\n\u{1E}3", ["1\n", "{\n}", "3"], [1, 6, 11]),
        (
            #"\#u{1E}[[],"]\"",{}]\#n\#u{1E}"\"\\"\#r\#n\#u{1E}null\#t\#u{1E}{} \#u{1E}"#,
            [#"[[],"]\"",{}]"#, #""\"\\""#, "null\t", "{}"], [1, 16, 25, 31]
        ),
        // Cut off, or broken, and gone on with at the next separator.
        ("\u{1E}[1,\u{1E}\"a\u{1E}tr\u{1E}[}]\n\u{1E}2\n", ["[1,", "\"a", "tr", "[}]\n", "2\n"], [1, 5, 8, 11, 16]),
        // Without a separator a text is one all the same.
        ("{}{}1 2", ["{}", "{}", "1 ", "2"], [0, 2, 4, 6]),
    ]

    @Test(arguments: sequences)
    func cutsSequencesWhereEachTextEnds(_ text: String, _ expected: [String], _ offsets: [Int]) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(JSONSequenceFinder(), chunks)
            #expect(found.error == nil)
            #expect(found.records == expected, "\(chunks.map(\.count))")
            #expect(found.offsets == offsets, "\(chunks.map(\.count))")
        }
    }

    /// No byte after a text delays the text.
    @Test(arguments: [
        (#"[{"a":1}"#, #"{"a":1}"#), ("[[[]]", "[[]]"), (#"["a""#, #""a""#), (#"[1,{}"#, "{}"), ("[1,", "1"),
    ])
    func yieldsAnElementWithItsLastByte(_ text: String, _ last: String) throws {
        var splitter = RecordSplitter(ArrayFinder(path: ""), maximumByteCount: 100)
        splitter.append(Data(text.utf8))
        var records: [String] = []
        while let record = try splitter.next() { records.append(String(decoding: record, as: UTF8.self)) }
        #expect(records.last == last)
    }

    @Test(arguments: ["1\n", "{}", #""a""#, "[[]]", "true "])
    func yieldsATextOfASequenceWithItsLastByte(_ text: String) throws {
        var splitter = RecordSplitter(JSONSequenceFinder(), maximumByteCount: 100)
        splitter.append(Data("\u{1E}\(text)".utf8))
        #expect(try splitter.next() == Data(text.utf8))
    }

    private static let arrays: [(String, path: String, [String])] = [
        ("[]", "", []),
        (" [ ] ", "", []),
        ("\u{FEFF}[1]", "", ["1"]),
        ("[1, 2 ,\n3 ]\n", "", ["1", "2 ", "3 "]),
        (
            #"["a,]\"","\\",{"b":[1,2],"c":"}"},[[],[]],null]"#, "",
            [
                #""a,]\"""#, #""\\""#, #"{"b":[1,2],"c":"}"}"#, "[[],[]]", "null",
            ]
        ),
        (#" [ {} , "a"  , [ ] ,1 ]"#, "", ["{}", "\"a\"", "[ ]", "1 "]),
        (#"{"data":{"items":[1,{"items":[2]}]}}"#, "data.items", ["1", #"{"items":[2]}"#]),
        (#"{"meta":{"data":[9]},"n":1.5e3,"data":{"s":"x","items":[1]},"z":[{"data":7}]}"#, "data.items", ["1"]),
        (#" { "a" : "]" , "b" : [ 1 , 2 ] , "c" : { } } "#, "b", ["1 ", "2 "]),
        (#"{"\u0061\"é":[1]}"#, "a\"é", ["1"]),
        (#"{"bb":[0],"b":[1],"b":[2]}"#, "b", ["1"]),
        (#"{"":[0],"a\\":[1],"a":[2]}"#, "a", ["2"]),
        (#"{"\ud83d\ude00":[1]}"#, "😀", ["1"]),
        // Of the rest only strings and brackets are read.
        (#"{"x":nonsense,"a":[1],"y" 2 [] z}"#, "a", ["1"]),
    ]

    @Test(arguments: arrays)
    func findsTheElementsOfAnArrayInAnyContext(_ text: String, _ path: String, _ expected: [String]) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(ArrayFinder(path: path), chunks)
            #expect(found.error == nil)
            #expect(found.records == expected, "\(chunks.map(\.count))")
        }
    }

    private static let flaws: [(String, path: String, [String], String)] = [
        ("", "", [], "the JSON text is incomplete, at byte 0 of the body"),
        ("[1,2", "", ["1"], "the JSON text is incomplete, at byte 4 of the body"),
        ("[1]]", "", ["1"], "more bytes follow the JSON text, at byte 3 of the body"),
        ("[1,]", "", ["1"], "an element of the JSON array is missing, at byte 3 of the body"),
        ("[,1]", "", [], "an element of the JSON array is missing, at byte 1 of the body"),
        ("[1,{]}]", "", ["1"], "a closing bracket has no opening bracket, at byte 4 of the body"),
        (#"["a"}"#, "", ["\"a\""], "a closing bracket has no opening bracket, at byte 4 of the body"),
        (#"["a"b]"#, "", ["\"a\""], "the JSON text is malformed, at byte 4 of the body"),
        ("[{}{}]", "", ["{}"], "the JSON text is malformed, at byte 3 of the body"),
        ("[{},]", "", ["{}"], "an element of the JSON array is missing, at byte 4 of the body"),
        ("[{}", "", ["{}"], "the JSON text is incomplete, at byte 3 of the body"),
        ("[1}", "", [], "a closing bracket has no opening bracket, at byte 2 of the body"),
        ("{}", "", [], "the body is not a JSON array, at byte 0 of the body"),
        ("null", "a", [], "the body has no array at \"a\", at byte 0 of the body"),
        (#"{"b":1}"#, "a", [], "the body has no array at \"a\", at byte 6 of the body"),
        (#"{"a":{}}"#, "a", [], "the body has no array at \"a\", at byte 5 of the body"),
        (#"{"a":[1],"b":[}"#, "a", ["1"], "a closing bracket has no opening bracket, at byte 14 of the body"),
        (#"{"a":[1]"#, "a", ["1"], "the JSON text is incomplete, at byte 8 of the body"),
        (#"{"a" [1]}"#, "a", [], "the JSON text is malformed, at byte 5 of the body"),
        (#"{a:[1]}"#, "a", [], "the JSON text is malformed, at byte 1 of the body"),
    ]

    @Test(arguments: flaws)
    func namesTheErrorOfAnArrayAndItsPlace(_ text: String, _ path: String, _ before: [String], _ detail: String) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(ArrayFinder(path: path), chunks)
            #expect(found.records == before, "\(chunks.map(\.count))")
            #expect(found.error?.kind == .decodingFailed)
            #expect(found.error?.detail == detail, "\(chunks.map(\.count))")
        }
    }

    @Test func readsArrays512DeepAndRefusesDeeperOnes() {
        for depth in [1, 2, 63, 64, 65, 500, 511] {
            let element = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            let found = records(ArrayFinder(path: ""), Cuts.chunks(of: Data("[\(element),1]".utf8), 5))
            #expect(found.records == [element, "1"])
        }
        let text = String(repeating: "[", count: 513)
        let found = records(ArrayFinder(path: ""), [Data(text.utf8)])
        #expect(found.error?.detail == "the JSON text is nested deeper than 512 levels, at byte 512 of the body")
        let path = Array(repeating: "a", count: 600).joined(separator: ".")
        let deep = records(ArrayFinder(path: path), [Data(String(repeating: #"{"a":"#, count: 600).utf8)])
        #expect(deep.error?.detail == "the JSON text is nested deeper than 512 levels, at byte 2560 of the body")
    }

    @Test func namesTheRecordThatIsTooLong() {
        for chunks in Cuts.of(Data("ab\nabcdef\nabcd\n".utf8)) {
            let found = records(LineFinder(), chunks, limit: 5)
            #expect(found.records == ["ab"])
            #expect(found.error?.kind == .recordTooLarge)
            let detail = "record 2, which begins at byte 3 of the body, is longer than the limit of 5 bytes"
            #expect(found.error?.detail == detail)
        }
        for chunks in Cuts.of(Data("[1,[3456789}]".utf8)) {
            let found = records(ArrayFinder(path: ""), chunks, limit: 5)
            #expect(found.error?.kind == .recordTooLarge, "the record is too long before its flaw comes")
        }
        #expect(records(LineFinder(), [Data("abcde".utf8)], limit: 5).error == nil)
        #expect(records(LineFinder(), [Data("ab\nabcdef".utf8)], limit: 5).error?.kind == .recordTooLarge)
    }

    @Test func keepsTheTextAroundAnArrayWithoutTheContentOfLargeMembers() throws {
        let x = String(repeating: "x", count: 70_000)
        let text = #" {"a":"\#(x)","data":[1,2],"b" : [["\#(x)"],{}],"c":{"d":"]}\\\#(x)"},"\#(x)":[1],"e":2} "#
        for byteCount in [999, 7000, 1 << 20] {
            var splitter = RecordSplitter(
                ArrayFinder(path: "data", keepingAroundUpTo: 1 << 17, failureKey: "error"),
                maximumByteCount: 100
            )
            for chunk in Cuts.chunks(of: Data(text.utf8), byteCount) {
                splitter.append(chunk)
                while try splitter.next() != nil {}
            }
            let around = try #require(splitter.finder.around)
            let kept = #" {"a":"","data":[],"b" : [],"c":{},"":[1],"e":2} "#
            #expect(String(decoding: around.data, as: UTF8.self) == kept)
            #expect(splitter.recordCount == 2)
        }
    }

    /// The kept text around an array, for chunks of several sizes.
    private func around(_ text: String, failureKey: String?) throws -> [String] {
        try [999, 7000, 1 << 20].map { byteCount in
            var splitter = RecordSplitter(
                ArrayFinder(path: "data", keepingAroundUpTo: 1 << 18, failureKey: failureKey),
                maximumByteCount: 100
            )
            for chunk in Cuts.chunks(of: Data(text.utf8), byteCount) {
                splitter.append(chunk)
                while try splitter.next() != nil {}
            }
            return String(decoding: try #require(splitter.finder.around).data, as: UTF8.self)
        }
    }

    @Test func keepsALargeMemberThatMayBeTheError() throws {
        let x = String(repeating: "x", count: 70_000)
        for key in ["errors", #"err\u006frs"#] {
            let text = #"{"a":"\#(x)","data":[1],"\#(key)" : ["\#(x)"],"c":["\#(x)"]}"#
            let kept = #"{"a":"","data":[],"\#(key)" : ["\#(x)"],"c":[]}"#
            #expect(try around(text, failureKey: "errors") == Array(repeating: kept, count: 3))
        }
        // A value with the text of the key is not a key.
        let other = #"{"a":"errors","b":["\#(x)"],"data":[1]}"#
        let kept = Array(repeating: #"{"a":"errors","b":[],"data":[]}"#, count: 3)
        #expect(try around(other, failureKey: "errors") == kept)
    }

    @Test func keepsAllLargeMembersIfTheKeyOfTheErrorIsUnknown() throws {
        let x = String(repeating: "x", count: 70_000)
        let kept = Array(repeating: #"{"a":"\#(x)","data":[],"b":["\#(x)"]}"#, count: 3)
        #expect(try around(#"{"a":"\#(x)","data":[1],"b":["\#(x)"]}"#, failureKey: nil) == kept)
    }

    @Test func keepsAMemberOfExactly64KiB() throws {
        for (byteCount, isKept) in [(65_536, true), (65_537, false)] {
            let x = String(repeating: "x", count: byteCount)
            let kept = Array(repeating: #"{"a":"\#(isKept ? x : "")","data":[]}"#, count: 3)
            #expect(try around(#"{"a":"\#(x)","data":[1]}"#, failureKey: "error") == kept)
        }
    }

    @Test func keepsNoMoreOfAMemberOf17MiB() throws {
        var splitter = RecordSplitter(
            ArrayFinder(path: "data", keepingAroundUpTo: 1 << 17, failureKey: "error"),
            maximumByteCount: 100
        )
        let part = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let chunks = [Data(#"{"data":[1],"included":[""#.utf8)] + Array(repeating: part, count: 17)
        for chunk in chunks + [Data(#""],"error":{}}"#.utf8)] {
            splitter.append(chunk)
            while try splitter.next() != nil {}
            #expect(splitter.finder.around?.data.count ?? .max < 100)
        }
        let around = try #require(splitter.finder.around)
        #expect(String(decoding: around.data, as: UTF8.self) == #"{"data":[],"included":[],"error":{}}"#)
    }

    private static let arounds: [(String, [String])] = [
        (#"{"a":1,"b":2,"c":3,"data":[1,2]}"#, []), (#"{"data":[1,2],"a":1,"b":2,"c":3}"#, ["1", "2"]),
    ]

    /// An error in the part that is not kept would be overlooked.
    @Test(arguments: arounds)
    func hasALimitForTheTextAroundTheArray(_ text: String, _ elements: [String]) {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = records(ArrayFinder(path: "data", keepingAroundUpTo: 20), chunks)
            #expect(found.records == elements, "\(chunks.map(\.count))")
            #expect(found.error?.kind == .recordTooLarge)
            #expect(found.error?.detail == "the text around the JSON array is longer than the limit of 20 bytes")
        }
        for chunks in Cuts.of(Data(text.utf8)) {
            #expect(records(ArrayFinder(path: "data", keepingAroundUpTo: 29), chunks).error == nil)
        }
    }

    @Test func doesNotCopyARecordWithinOneChunk() throws {
        let chunk = Data((String(repeating: "x", count: 100) + "\n" + String(repeating: "y", count: 100) + "\n").utf8)
        var splitter = RecordSplitter(LineFinder(), maximumByteCount: 1000)
        splitter.append(chunk)
        let start = chunk.withUnsafeBytes { $0.baseAddress }
        for offset in [0, 101] {
            let record = try #require(try splitter.next())
            #expect(record.withUnsafeBytes { $0.baseAddress } == start.map { $0 + offset })
        }
    }
}
