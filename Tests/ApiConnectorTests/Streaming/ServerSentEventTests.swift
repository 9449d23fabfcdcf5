// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct ServerSentEventTests {
    private typealias Row = (String, [ServerSentEvent])

    private static func event(_ data: String, _ type: String = "message", id: String = "") -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id)
    }

    private static let rows: [Row] = [
        ("", []),
        // The standard's own examples.
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
            [event("first event", id: "1"), event("second event")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [event(""), event("\n")]),
        ("data:test\n\ndata: test\n\n", [event("test"), event("test")]),
        // Ends of lines, and what is not one.
        ("data: a\r\rdata: b\r\n\r\ndata: c\n\ndata: d\r\n\r", [event("a"), event("b"), event("c"), event("d")]),
        ("data: a\u{2028}\u{85}b\n\n", [event("a\u{2028}\u{85}b")]),
        ("data: a\n\r\ndata: b\r\r", [event("a"), event("b")]),
        // An unfinished event is dropped.
        ("data: a\n\ndata: b\n", [event("a")]),
        ("data: a\n\ndata: b", [event("a")]),
        ("data: a\n", []),
        // The mark, once.
        ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [event("a")]),
        // Fields.
        (":data: a\n:\ndata:: a\n\n", [event(": a")]),
        ("data:  a \n\n", [event(" a ")]),
        ("data:\ta\n\n", [event("\ta")]),
        ("Data: a\n data: b\ndata : c\ndatas: d\ndat: e\n\n", []),
        ("event: x\ndata: a\n\ndata: b\n\n", [event("a", "x"), event("b")]),
        ("event: x\n\ndata: b\n\n", [event("b")]),
        ("event: x\nevent:\ndata: a\n\n", [event("a")]),
        ("event: x\nevent: y\ndata: a\n\n", [event("a", "y")]),
        ("event:add\ndata:73857293\n\nevent:remove\ndata\n\n", [event("73857293", "add"), event("", "remove")]),
        // The ID stays, is emptied by an empty one, and is not touched by one with NUL.
        ("id: 7\ndata: a\n\ndata: b\n\n", [event("a", id: "7"), event("b", id: "7")]),
        ("id: 7\n\ndata: b\n\n", [event("b", id: "7")]),
        ("id: 7\nid: 8\u{0}\ndata: a\n\n", [event("a", id: "7")]),
        ("id: 7\n\nid:\ndata: a\n\n", [event("a")]),
        ("data: a\u{0}b\n\n", [event("a\u{0}b")]),
        ("retry: 5\ndata: a\nretry: x\nfield\n\n", [event("a")]),
        ("data: é😀\n\n", [event("é😀")]),
    ]

    @Test(arguments: rows)
    func readsEventsByTheStandard(_ text: String, _ expected: [ServerSentEvent]) async {
        for chunks in Cuts.of(Data(text.utf8)) {
            let found = await elements(.events, in: chunks)
            #expect(found.elements == expected, "\(chunks.map(\.count))")
            #expect(found.error == nil)
        }
    }

    @Test func replacesBytesThatAreNotUTF8() async {
        let bytes = Data("data: a".utf8) + [0xFF, 0xE2, 0x82] + Data("b\n\n".utf8)
        for chunks in Cuts.of(bytes) {
            #expect(await elements(.events, in: chunks).elements == [Self.event("a\u{FFFD}\u{FFFD}b")])
        }
    }

    @Test func endsBeforeItsSentinel() async {
        let text = "data: 1\n\ndata: [DONE]\n\ndata: 2\n\n"
        for chunks in Cuts.of(Data(text.utf8)) {
            #expect(await elements(.events(until: "[DONE]"), in: chunks).elements.map(\.data) == ["1"])
            #expect(await elements(of: Int.self, .events(until: "[DONE]"), in: chunks).elements == [1])
            let untilTwo = await elements(.events { $0.data == "2" }, in: chunks)
            #expect(untilTwo.elements.map(\.data) == ["1", "[DONE]"])
        }
    }

    @Test func namesTheEventThatIsTooLong() async {
        let line = "data: 123456\n"
        for chunks in Cuts.of(Data("data: 1\n\n\(line)\(line)\(line)\n".utf8)) {
            let found = await elements(.events, in: chunks, limit: 18)
            #expect(found.elements == [Self.event("1")])
            #expect(found.error?.kind == .recordTooLarge)
            let detail = "record 2, which begins at byte 9 of the body, is longer than the limit of 18 bytes"
            #expect(found.error?.detail == detail)
        }
        let long = await elements(.events, in: [Data("data: 1\n\n\n: \(line)\(line)".utf8)], limit: 8)
        #expect(
            long.error?.detail == "record 2, which begins at byte 10 of the body, is longer than the limit of 8 bytes"
        )
    }

    @Test func parsesAnyPrintedEvents() async {
        var random = SplitMix64.printed()
        var texts = HostileText(random)
        for _ in 0..<SplitMix64.caseCount / 20 {
            let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                // CR is no part of what a line can hold, nor LF of a type or an ID.
                let fields = (0..<3).map { _ in
                    String(String.UnicodeScalarView(texts.next().unicodeScalars.filter { $0 != "\r" }))
                }
                let plain = fields.map { String(String.UnicodeScalarView($0.unicodeScalars.filter { $0 != "\n" })) }
                return ServerSentEvent(
                    type: plain[0].isEmpty ? "message" : plain[0],
                    data: fields[1],
                    id: String(String.UnicodeScalarView(plain[2].unicodeScalars.filter { $0 != "\u{0}" }))
                )
            }
            let end = ["\n", "\r", "\r\n"].randomElement(using: &random) ?? "\n"
            let text = events.map { $0.printed(end) }.joined()
            let chunks = Cuts.chunks(of: Data(text.utf8), Int.random(in: 1...40, using: &random))
            let found = await elements(.events, in: chunks)
            #expect(found.elements == events)
            guard found.elements == events else { return }
        }
    }
}

extension ServerSentEvent {
    fileprivate func printed(_ end: String) -> String {
        // Not by `split`: CR LF and a combining mark after an LF make other characters.
        let lines = data.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let fields = ["event: " + type] + lines.map { "data: " + $0 } + ["id: " + id, ": comment"]
        return fields.map { $0 + end }.joined() + end
    }
}
