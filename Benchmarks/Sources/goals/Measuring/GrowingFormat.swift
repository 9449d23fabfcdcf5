// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import MicroCases

/// A format with its writer and its reader.
struct GrowingFormat: Sendable {
    typealias Read = @Sendable (ParserInput, _ count: Int) async throws -> Double

    let name: String
    var before = ""
    /// The delimiters before and after each record.
    var start = ""
    let end: String
    var after = ""
    let read: Read
    /// The reader for records of any JSON; nil for a format without JSON.
    var readNested: Read?

    /// Makes `count` records in `chunkCount` chunks.
    ///
    /// Each record is a text or a JSON string of about `byteCount` bytes.
    func input(_ count: Int, byteCount: Int, chunkCount: Int) -> ParserInput {
        let mark = readNested == nil ? "" : "\""
        let text = String(repeating: "0123456789", count: byteCount / 10 + 1).prefix(byteCount)
        let record = "\(mark)\(text)\(mark)"
        return input(count, record, ((start + record + end).utf8.count + chunkCount - 1) / chunkCount)
    }

    /// Makes `count` records.
    ///
    /// Each record consists of `depth` nested arrays.
    func nestedInput(_ count: Int, depth: Int, chunkByteCount: Int) -> ParserInput {
        input(count, String(repeating: "[", count: depth) + String(repeating: "]", count: depth), chunkByteCount)
    }

    private func input(_ count: Int, _ record: String, _ chunkByteCount: Int) -> ParserInput {
        var records = String(repeating: start + record + end, count: count)
        if end == "," { records.removeLast() }
        return ParserInput(before + records + after, chunkByteCount: chunkByteCount)
    }

    static let all = [
        GrowingFormat(
            name: "text",
            end: "\n",
            read: { input, _ in
                try await input.seconds(reading: StreamFormat<String>.text, expecting: nil)
            }
        ),
        GrowingFormat(
            name: "lines",
            end: "\n",
            read: {
                try await $0.seconds(reading: StreamFormat<String>.lines, expecting: $1)
            }
        ),
        GrowingFormat(
            name: "lines as bytes",
            end: "\n",
            read: {
                try await $0.seconds(reading: StreamFormat<Data>.lineData, expecting: $1)
            }
        ),
        GrowingFormat(
            name: "events",
            start: "data: ",
            end: "\n\n",
            read: {
                try await $0.seconds(reading: StreamFormat<ServerSentEvent>.events, expecting: $1)
            }
        ),
        json("JSON lines", end: "\n", .jsonLines, .jsonLines),
        json("a JSON sequence", start: "\u{1E}", end: "\n", .jsonSequence, .jsonSequence),
        json("elements of an array", before: "[", end: ",", after: "]", .elements, .elements),
        json(
            "elements at a path",
            before: #"{"data":{"items":["#,
            end: ",",
            after: "]}}",
            .elements(at: "data.items"),
            .elements(at: "data.items")
        ),
    ]

    private static func json(
        _ name: String,
        before: String = "",
        start: String = "",
        end: String,
        after: String = "",
        _ texts: StreamFormat<String>,
        _ nested: StreamFormat<Unread>
    ) -> GrowingFormat {
        GrowingFormat(
            name: name,
            before: before,
            start: start,
            end: end,
            after: after,
            read: { try await $0.seconds(reading: texts, expecting: $1) },
            readNested: { try await $0.seconds(reading: nested, expecting: $1) }
        )
    }
}

/// A value that accepts any JSON without reading it.
private struct Unread: Decodable, Sendable {
    init(from decoder: any Decoder) {}
}
