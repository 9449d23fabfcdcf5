// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RecordFormatTests {
    private struct Row: Codable, Equatable, Sendable {
        var name: String
        var numbers: [Int]
    }

    private static let ab = [Row(name: "a", numbers: [1]), Row(name: "b", numbers: [])]
    private static let a = #"{"name":"a","numbers":[1]}"#
    private static let b = #"{"name":"b","numbers":[]}"#

    @Test(arguments: ["\(a)\n\(b)", "\(a)\n\(b)\n", "\u{FEFF}\r\n\(a)\r\n\n \n\(b)\r\n\r\n"])
    func readsOneValuePerLine(_ text: String) async {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = await elements(of: Row.self, .jsonLines, in: chunks)
            #expect(found.elements == Self.ab)
            #expect(found.error == nil)
        }
    }

    @Test func readsSequences() async {
        let text = "\u{1E}\(Self.a)\n\u{1E}\n\u{1E}\u{1E}\(Self.b)\n"
        for chunks in Cuts.of(Data(text.utf8)) {
            #expect(await elements(of: Row.self, .jsonSequence, in: chunks).elements == Self.ab)
        }
    }

    @Test(arguments: [
        ("\u{1E}1\n\u{1E}12", 2, 4), ("\u{1E}1\n\u{1E}12\u{1E}3\n", 2, 4), ("\u{1E}1\n\u{1E}[1,\u{1E}3\n", 2, 4),
        ("\u{1E}1\n\u{1E}tr", 2, 4),
    ])
    func reportsATruncatedTextOfASequence(_ text: String, _ number: Int, _ offset: Int) async {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = await elements(of: Int.self, .jsonSequence, in: chunks)
            #expect(found.elements == [1])
            #expect(found.error?.kind == .decodingFailed)
            #expect(found.error?.detail == "record 2, which begins at byte \(offset) of the body, is truncated")
        }
    }

    @Test(arguments: ["", "data.items"])
    func readsTheElementsOfAnArray(_ path: String) async {
        let array = "[\(Self.a) ,\n\(Self.b)]"
        let text = path.isEmpty ? array : #"{"n":[[],{}],"data":{"x":"]","items":\#(array),"y":{"z":1}}}"#
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = await elements(of: Row.self, .elements(at: path), in: chunks)
            #expect(found.elements == Self.ab)
            #expect(found.error == nil)
        }
    }

    @Test(arguments: [1, 2, 100, 500])
    func readsElementsThatAreArraysManyDeep(_ depth: Int) async {
        let element = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let text = Data("[\(element),\(element)]".utf8)
        for byteCount in [1, 64, 4096] {
            let found = await elements(of: JSONValue.self, .elements, in: Cuts.chunks(of: text, byteCount))
            #expect(found.elements.count == 2)
            #expect(found.error == nil)
        }
    }

    @Test func aDocumentMayBeInAnotherEncoding() async throws {
        let body = Data([0xFF, 0xFE]) + Data("[1,2]".utf8.flatMap { [$0, 0] })
        var read: [[Int]] = []
        for try await value in ResponseBody(body).stream(of: [Int].self, as: .automatic) { read.append(value) }
        #expect(read == [[1, 2]])
    }

    /// Foundation's decoder would guess another encoding by each of them.
    @Test(
        arguments: [[0x31, 0], [0, 0x31], [0x31, 0, 0, 0], [0xFE, 0xFF, 0, 0x31], [0xEF, 0xBB, 0xBF, 0x31]] as [[UInt8]]
    )
    func guessesTheEncodingOfNoElement(_ element: [UInt8]) async {
        let body = Data([UInt8(ascii: "["), UInt8(ascii: "2"), UInt8(ascii: ",")] + element + [UInt8(ascii: "]")])
        for chunks in Cuts.of(body) {
            let found = await elements(of: Int.self, .elements, in: chunks)
            #expect(found.error?.kind == .decodingFailed)
            #expect(found.error?.detail == "record 2, which begins at byte 3 of the body, is not JSON in UTF-8")
        }
    }

    private static let broken = "1\n\"two\"\n3\n"

    @Test func failsAtARecordThatDoesNotDecode() async {
        for chunks in Cuts.of(Data(Self.broken.utf8)) {
            let found = await elements(of: Int.self, .jsonLines, in: chunks)
            #expect(found.elements == [1])
            #expect(found.error?.kind == .decodingFailed)
            #expect(
                found.error?.detail.hasPrefix("record 2, which begins at byte 2 of the body, does not decode as Int: ")
                    == true
            )
        }
    }

    @Test func skipsUndecodableRecordsIfEnabled() async {
        for chunks in Cuts.of(Data(Self.broken.utf8)) {
            let found = await elements(of: Int.self, .skippingUndecodable(.jsonLines), in: chunks)
            #expect(found.elements == [1, 3])
            #expect(found.error == nil)
        }
    }

    @Test func yieldsValuesAndErrorsIfEnabled() async {
        for chunks in Cuts.of(Data(Self.broken.utf8)) {
            let format: StreamFormat<Result<Int, ApiConnectorError>> = .results(.jsonLines)
            let found = await elements(format, in: chunks)
            #expect(found.elements.map { try? $0.get() } == [1, nil, 3])
            #expect(found.error == nil)
        }
        let lines: StreamFormat<Result<String, ApiConnectorError>> = .results(.lines)
        #expect(await elements(lines, in: [Data("a\nb".utf8)]).elements.map { try? $0.get() } == ["a", "b"])
    }

    @Test func stillFailsOnBytesThatAreNotTheFormat() async {
        let found = await elements(of: Int.self, .skippingUndecodable(.elements), in: [Data(#"[1,"two",3}"#.utf8)])
        #expect(found.elements == [1])
        #expect(found.error?.detail == "a closing bracket has no opening bracket, at byte 10 of the body")
    }

    @Test func decodesTheDataOfEvents() async {
        let text = "data: {\"name\":\"a\",\ndata: \"numbers\":[1]}\n\nevent: x\n\ndata: \(Self.b)\n\n"
        for chunks in Cuts.of(Data(text.utf8)) {
            #expect(await elements(of: Row.self, .events, in: chunks).elements == Self.ab)
        }
    }

    @Test func parsesAnyPrintedValues() async throws {
        var random = SplitMix64.printed()
        var texts = HostileText(random)
        for _ in 0..<SplitMix64.caseCount / 20 {
            let rows = (0..<Int.random(in: 0...4, using: &random)).map { number in
                Row(name: texts.next(), numbers: Array(0..<number))
            }
            let encoder = JSONEncoder()
            if Bool.random(using: &random) { encoder.outputFormatting = .prettyPrinted }
            let pretty = try rows.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
            let plain = try rows.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
            let formats: [(StreamFormat<Row>, String)] = [
                (.jsonLines, plain.map { $0 + "\n" }.joined()),
                (.jsonSequence, pretty.map { "\u{1E}" + $0 + "\n" }.joined()),
                (.elements, "[" + pretty.joined(separator: ",") + "]"),
                (.elements(at: "a.b"), #"{"x":\#(plain),"a":{"b":["# + pretty.joined(separator: " , ") + "]}}\n"),
                (.events, pretty.map { $0.split(separator: "\n").map { "data:\($0)\n" }.joined() + "\n" }.joined()),
            ]
            let byteCount = Int.random(in: 1...60, using: &random)
            for (format, text) in formats {
                let found = await elements(format, in: Cuts.chunks(of: Data(text.utf8), byteCount))
                #expect(found.elements == rows, "\(text)")
                #expect(found.error == nil)
                guard found.elements == rows else { return }
            }
        }
    }
}
