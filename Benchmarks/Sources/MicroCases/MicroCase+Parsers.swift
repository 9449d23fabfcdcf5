// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension MicroCase {
    /// Cases for each parser with 256 KiB of records, for several lengths of records and chunks.
    static var parsers: [MicroCase] {
        [("10 B", 10), ("1 KB", 1024), ("64 KB", 65_536)].flatMap { name, byteCount in
            let records = Records(name: "\(name) records", textByteCount: byteCount, count: max(262_144 / byteCount, 4))
            return texts(records) + values(records)
        }
    }

    private struct Records {
        let name: String
        let textByteCount: Int
        let count: Int

        var text: String {
            String(String(repeating: "0123456789", count: textByteCount / 10 + 1).prefix(textByteCount))
        }

        /// A JSON record with the same text.
        ///
        /// A record that is too short for a text has only a number.
        var json: String { textByteCount < 20 ? #"{"id":1234}"# : #"{"id":1234,"text":"\#(text)"}"# }

        /// Every record between its delimiters.
        func joined(_ before: String, _ record: String, _ after: String) -> String {
            String(repeating: before + record + after, count: count)
        }
    }

    private static func texts(_ records: Records) -> [MicroCase] {
        let (text, count) = (records.text, records.count)
        let lines = records.joined("", text, "\n")
        let data = Data(lines.utf8)
        let reference = Reference("\(records.name) as text, cut by hand") {
            data.forEachLine { keep(String(decoding: $0, as: UTF8.self)) }
        }
        let events = records.joined("data: ", text, "\n\n")
        var all = cases("text, \(records.name)", lines, nil, reference) { StreamFormat<String>.text }
        all += cases("lines, \(records.name)", lines, count, reference) { StreamFormat<String>.lines }
        all += cases("lines as bytes, \(records.name)", lines, count, reference) { StreamFormat<Data>.lineData }
        all += cases("server-sent events, \(records.name)", events, count, reference) {
            StreamFormat<ServerSentEvent>.events
        }
        return all
    }

    private static func values(_ records: Records) -> [MicroCase] {
        let (json, count) = (records.json, records.count)
        let lines = records.joined("", json, "\n")
        let data = Data(lines.utf8)
        let reference = Reference("\(records.name) of JSON, cut and decoded by hand") {
            let decoder = JSONDecoder()
            try data.forEachLine { keep(try decoder.decode(MicroRecord.self, from: $0)) }
        }
        let array = "[\(records.joined("", json, ",").dropLast())]"
        let sequence = records.joined("\u{1E}", json, "\n")
        let events = records.joined("data: ", json, "\n\n")
        let object = #"{"page":1,"data":{"items":\#(array)}}"#
        typealias Format = StreamFormat<MicroRecord>
        var all = cases("JSON lines, \(records.name)", lines, count, reference) { Format.jsonLines }
        all += cases("a JSON sequence, \(records.name)", sequence, count, reference) { Format.jsonSequence }
        all += cases("events of JSON, \(records.name)", events, count, reference) { Format.events }
        all += cases("elements of an array, \(records.name)", array, count, reference) { Format.elements }
        all += cases("elements at a path, \(records.name)", object, count, reference) {
            Format.elements(at: "data.items")
        }
        return all
    }

    private static func cases<Element: Sendable>(
        _ name: String,
        _ text: String,
        _ count: Int?,
        _ reference: Reference,
        _ format: @escaping @Sendable () -> StreamFormat<Element>
    ) -> [MicroCase] {
        [("1 KB", 1024), ("64 KB", 65_536)].map { size, chunkByteCount in
            let input = ParserInput(text, chunkByteCount: chunkByteCount)
            return MicroCase("\(name) in \(size) chunks", against: reference) {
                var received = 0
                for try await element in input.body.stream(as: format()) {
                    keep(element)
                    received += 1
                }
                guard received == count ?? max(received, 1) else {
                    throw WrongFixture(description: "\(name): \(received) elements")
                }
            }
        }
    }
}

private struct MicroRecord: Decodable, Sendable {
    let id: Int
    let text: String?
}
