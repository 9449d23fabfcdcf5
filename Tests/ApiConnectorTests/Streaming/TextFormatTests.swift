// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct TextFormatTests {
    @Test(
        arguments: [("", []), ("a", ["a"]), ("a\r\n\né\r", ["a", "", "é"]), ("\u{FEFF}a\n", ["a"])]
            as [(String, [String])]
    )
    func readsLines(_ text: String, _ expected: [String]) async {
        for chunks in Cuts.of(Data(text.utf8)) {
            #expect(await elements(.lines, in: chunks).elements == expected)
            #expect(await elements(.lineData, in: chunks).elements == expected.map { Data($0.utf8) })
        }
    }

    @Test func parsesAnyPrintedLines() async {
        var random = SplitMix64.printed()
        var texts = HostileText(random)
        for _ in 0..<SplitMix64.caseCount / 20 {
            // Line endings, and a byte order mark at the start, are not part of a line.
            let lines = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                String(
                    String.UnicodeScalarView(
                        texts.next().unicodeScalars.filter { !"\r\n\u{FEFF}".unicodeScalars.contains($0) }
                    )
                )
            }
            let end = ["\n", "\r", "\r\n"].randomElement(using: &random) ?? "\n"
            let printed = Data(lines.map { $0 + end }.joined().utf8)
            let found = await elements(.lines, in: Cuts.chunks(of: printed, Int.random(in: 1...40, using: &random)))
            #expect(found.elements.map { Array($0.utf8) } == lines.map { Array($0.utf8) })
            guard found.elements.count == lines.count else { return }
        }
    }

    @Test func yieldsTheSameBytesWithEveryChunking() async {
        let bytes = Data((0..<300).map { UInt8($0 & 0xFF) })
        for chunks in Cuts.of(bytes) {
            #expect(await elements(.chunks, in: chunks).elements.reduce(Data(), +) == bytes)
        }
    }

    @Test func yieldsChunksAsTheyArrive() async {
        let found = await elements(.chunks, in: [Data("ab".utf8), Data(), Data("c".utf8)])
        #expect(found.elements == [Data("ab".utf8), Data("c".utf8)])
    }

    @Test(arguments: [
        "", "a", "héllo", "\u{FEFF}mark", "👩‍👩‍👧👍🏽🇩🇪🇫🇷e\u{301}\u{320}x", "a\r\nb\r\n", "\r\r\n\n", "नमस्ते",
        "각\u{1100}\u{1161}\u{11A8}",
    ])
    func neverSplitsACharacter(_ text: String) async {
        let whole = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        for chunks in Cuts.of(Data(text.utf8)) {
            let pieces = await elements(.text, in: chunks).elements
            #expect(pieces.joined() == whole)
            #expect(pieces.flatMap { Array($0) } == Array(whole), "\(pieces)")
            #expect(!pieces.contains(""))
        }
    }

    /// It may be followed by a combining character.
    @Test func onlyTheLastCharacterWaits() async {
        let found = await elements(.text, in: [Data("abé".utf8), Data("x".utf8)])
        #expect(found.elements == ["ab", "é", "x"])
    }

    @Test func replacesInvalidBytes() async {
        for bytes in [
            [0x61, 0xFF, 0x62], [0xE2, 0x82], [0xF0, 0x9F, 0x98, 0x61], [0xC0, 0x80], [0xED, 0xA0, 0x80],
        ] as [[UInt8]] {
            for chunks in Cuts.of(Data(bytes)) {
                #expect(await elements(.text, in: chunks).elements.joined() == String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test func yieldsALineAtItsEnd() async {
        let found = await elements(.text, in: [Data("one\n".utf8), Data("two".utf8), Data("\n".utf8)])
        #expect(found.elements == ["one\n", "tw", "o\n"])
    }

    @Test func splitsAnExcessivelyLongCharacter() async {
        let text = "a" + String(repeating: "\u{301}", count: 100_000)
        let pieces = await elements(.text, in: Cuts.chunks(of: Data(text.utf8), 1000)).elements
        #expect(pieces.count > 10)
        #expect(pieces.map { Array($0.utf8) }.joined().elementsEqual(text.utf8))
    }
}
