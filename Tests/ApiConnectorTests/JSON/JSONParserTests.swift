// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

/// One parser reads the JSON of bodies, errors, recordings and documents.
struct JSONParserTests {
    private func strict(_ text: String) -> LocatedJSON? {
        try? JSONParser.value(in: Array(text.utf8))
    }

    private func lenient(_ text: String) -> LocatedJSON? {
        try? JSONParser.value(in: Array(text.utf8), isLenient: true)
    }

    @Test func aRepeatedKeyHasItsFirstValueAsInFoundationsDecoder() throws {
        let text = #"{"a":1,"b":2,"a":3}"#
        let decoded = try JSONDecoder().decode([String: Int].self, from: Data(text.utf8))
        #expect(decoded == ["a": 1, "b": 2])
        #expect(try JSONValue(json: Data(text.utf8)) == ["a": 1, "b": 2])
        let located = try #require(lenient(text))
        #expect(located["a"]?.number == 1)
        guard case .object(let members) = located.content else {
            Issue.record("it is no object")
            return
        }
        // Secrets are searched for in all of them.
        #expect(members.map(\.key) == ["a", "b", "a"])
    }

    @Test(arguments: [
        "01", "-01", "1.", ".5", "-.5", "+1", "-", "1e", "1e+", "1.e5", "0x10", "1-", "--1", "1.2.3", "Infinity",
    ])
    func aNumberHasTheGrammarOfTheStandard(text: String) {
        #expect(strict(text) == nil)
        #expect(lenient(text) == nil)
        #expect((try? JSONDecoder().decode(Double.self, from: Data(text.utf8))) == nil)
    }

    @Test(arguments: ["0", "-0", "10", "0.5", "-0.50", "1e5", "1E-5", "1.5e+3"])
    func aNumberKeepsItsPlaceAndItsValue(text: String) throws {
        for found in [strict("[ \(text) ]"), lenient("[ \(text) ]")] {
            let number = try #require(found?.array?.first)
            #expect(number.number == Double(text))
            #expect(number.range == 2..<2 + text.utf8.count)
        }
    }

    /// A number that no double holds is a number of the grammar, but not a value.
    @Test func aNumberBeyondADoubleHasAPlaceButNoValue() {
        #expect(strict("1e400") != nil)
        let flaw = #expect(throws: JSONFlaw.self) { try JSONValue(json: Data("[1e400]".utf8)) }
        #expect(flaw?.offset == 6)
    }

    @Test func onlyALenientParserAcceptsControlCharacters() {
        for byte in UInt8(0)..<0x20 {
            let text = "\"a" + String(Unicode.Scalar(byte)) + "b\""
            #expect(strict(text) == nil, "\(byte)")
            #expect(lenient(text)?.string?.utf8.count == 3, "\(byte)")
        }
        #expect(strict("\"\u{7F}\"") != nil)
    }

    @Test(
        arguments: [
            (#""a\ud800""#, "a\u{FFFD}"), (#""\udc00b""#, "\u{FFFD}b"), (#""\ud800\u0041""#, "\u{FFFD}A"),
        ] as [(String, String)]
    )
    func onlyALenientParserAcceptsHalfASurrogatePair(text: String, wanted: String) {
        #expect(strict(text) == nil)
        #expect(lenient(text)?.string == wanted)
    }

    @Test func onlyALenientParserAcceptsInvalidUTF8() {
        let bytes: [UInt8] = [0x22, 0x61, 0xFF, 0x22]
        #expect((try? JSONParser.value(in: bytes)) == nil)
        #expect((try? JSONParser.value(in: bytes, isLenient: true))?.string == "a\u{FFFD}")
    }

    @Test(arguments: ["[1,]", #"{"a":1,}"#, "\u{FEFF}[1]"])
    func acceptsTheSameDeviationsAsFoundationsDecoder(text: String) throws {
        #expect(try JSONValue(json: Data(text.utf8)) == JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)))
        #expect(lenient(text) != nil)
    }

    @Test(arguments: ["[,]", "[1,,2]", "{,}", "[1 2]", "[1}", "{\"a\"}", "{a:1}", "[1]x", "", " ", "tru", "NaN", "'a'"])
    func refusesOtherDeviations(text: String) {
        #expect(strict(text) == nil)
        #expect(lenient(text) == nil)
    }

    @Test func refusesMoreThan512Levels() {
        for (count, isAccepted) in [(512, true), (513, false)] {
            let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            #expect((strict(text) != nil) == isAccepted)
            #expect((lenient(text) != nil) == isAccepted)
        }
    }

    @Test func aRangeOfATextHasPlacesInTheWholeText() throws {
        let bytes = Array(#"data:{"a":"b"}!"#.utf8)
        let value = try JSONParser.value(in: bytes, 5..<14)
        #expect(value.range == 5..<14)
        #expect(value["a"]?.range == 10..<13)
    }

    @Test func aFlawNamesItsTokenAndItsPlace() {
        for (text, start, offset) in [(#"{"a": "b"#, 6, 8), (#"["\u12"]"#, 2, 6), ("[1-]", 1, 3), ("[1 2]", 3, 3)] {
            let flaw = #expect(throws: JSONFlaw.self) { try JSONParser.value(in: Array(text.utf8)) }
            #expect(flaw?.start == start, "\(text)")
            #expect(flaw?.offset == offset, "\(text)")
        }
    }
}
