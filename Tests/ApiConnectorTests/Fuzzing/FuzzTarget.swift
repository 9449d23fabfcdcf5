// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnector

/// Rules that a parser must keep for all bytes.
///
/// `Scripts/fuzz` looks for bytes that break a rule. An input's first byte has the number of the next bytes that are
/// sizes of chunks. Its highest bit says whether records must be short. The rest is the body.
enum FuzzTarget: String, CaseIterable {
    case lines, jsonLines, jsonSequence, events, elements, elementsAtPath, text, link

    /// The rule that an input breaks; nil if all rules hold.
    func fault(_ input: Data) -> String? {
        let input = FuzzInput(input)
        return switch self {
        case .lines: input.cutFault(.lineData) ?? Self.lineFault(input)
        case .jsonLines: input.cutFault(StreamFormat<JSONValue>.jsonLines) ?? Self.resumeFault(input)
        case .jsonSequence: input.cutFault(StreamFormat<JSONValue>.jsonSequence)
        case .events: input.cutFault(StreamFormat<ServerSentEvent>.events) ?? Self.eventFault(input)
        case .elements: input.cutFault(StreamFormat<JSONValue>.elements) ?? Self.elementFault(input)
        case .elementsAtPath: input.cutFault(StreamFormat<JSONValue>.elements(at: "a.b"))
        case .text: Self.textFault(input)
        case .link: Self.linkFault(input.body)
        }
    }

    /// Lines are what a reader that has all the bytes before it finds.
    private static func lineFault(_ input: FuzzInput) -> String? {
        let found = input.parse(StreamFormat<Data>.lineData, [input.body])
        guard found.error == nil else { return nil }
        let expected = plainLines(input.body)
        return found.elements == expected ? nil : "\(found.elements) are not the lines \(expected)"
    }

    /// A body that broke off anywhere, and is asked for from where its parser says, gives the same records.
    private static func resumeFault(_ input: FuzzInput) -> String? {
        let format = StreamFormat<JSONValue>.jsonLines
        let whole = input.parse(format, [input.body])
        var context = input.context
        var parser = format.parser(context)
        var before: [JSONValue] = []
        guard let cut = input.chunks.first else { return nil }
        do throws(ApiConnectorError) {
            parser.append(cut)
            try parser.read(&before, upTo: .max)
        } catch {
            return nil
        }
        guard let position = parser.resumePoint?.position else { return "there is no point to resume from" }
        context.resumePoint = ResumePoint(position: position)
        let after = input.parse(format, [input.body.dropFirst(position.offset)], context)
        return before + after.elements == whole.elements && after.error?.detail == whole.error?.detail
            ? nil : "resumed at \(position): \(before) + \(after) is not \(whole)"
    }

    /// Where Foundation reads the body as one array, the elements are those of the array; but it lets a comma stand
    /// before the bracket, and NUL anywhere.
    private static func elementFault(_ input: FuzzInput) -> String? {
        guard !input.body.contains(0), let array = try? JSONDecoder().decode([JSONValue].self, from: input.body)
        else { return nil }
        let found = input.parse(StreamFormat<JSONValue>.elements, [input.body])
        if found.error?.kind == .recordTooLarge { return nil }
        let isRead = found.error?.detail.hasPrefix("an element of the JSON array is missing") ?? true
        return found.elements == array && isRead ? nil : "\(found) is not \(array)"
    }

    private static func textFault(_ input: FuzzInput) -> String? {
        var body = input.body
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { body = body.dropFirst(3) }
        let whole = String(decoding: body, as: UTF8.self)
        let pieces = input.parse(.text, input.chunks).elements
        guard pieces.joined().utf8.elementsEqual(whole.utf8) else { return "\(pieces) is not \(whole)" }
        if pieces.contains("") { return "there is an empty piece" }
        let isWhole = pieces.reduce(0) { $0 + $1.count } == whole.count
        let hasGiant = whole.contains { $0.utf8.count > TextParser.maximumCharacterByteCount }
        return isWhole || hasGiant ? nil : "\(pieces) splits a character of \(whole)"
    }

    /// Links that are written as they were read are read as the same.
    private static func linkFault(_ body: Data) -> String? {
        guard let url = URL(string: "http://api.example.com/a/b?c=1#d") else { return "the URL is invalid" }
        let links = LinkFieldParser.links(in: String(decoding: body, as: UTF8.self), of: url)
        for link in links where link.relations.isEmpty || link.relations.contains("") {
            return "\(link) has no relation"
        }
        // Such a name would be read as one in an encoding.
        if links.contains(where: { $0.attributes.contains { $0.name.hasSuffix("*") } }) { return nil }
        let printed = links.map(\.printed).joined(separator: ", ")
        let again = LinkFieldParser.links(in: printed, of: url)
        return again.map(\.printed) == links.map(\.printed) ? nil : "\(printed) is read as \(again.map(\.printed))"
    }
}

/// An input of the fuzzer, taken apart.
struct FuzzInput {
    let body: Data
    let chunks: [Data]
    let context: StreamContext

    init(_ input: Data) {
        let first = input.first ?? 0
        let sizes = input.dropFirst().prefix(Int(first & 7))
        let body = Data(input.dropFirst(1 + sizes.count))
        var chunks: [Data] = []
        var rest = body[...]
        for size in sizes {
            chunks.append(rest.prefix(Int(size)))
            rest = rest.dropFirst(Int(size))
        }
        self.body = body
        self.chunks = chunks + [rest]
        context = StreamContext(
            decoder: JSONDecoder(),
            maximumRecordByteCount: first & 0x80 == 0 ? 1 << 20 : 16,
            maximumBodyByteCount: 1 << 20,
            wholeReader: JSONDecoder()
        )
    }

    /// The elements that a format reads from chunks, as a stream reads them.
    func parse<Element>(
        _ format: StreamFormat<Element>,
        _ chunks: [Data],
        _ other: StreamContext? = nil
    ) -> (elements: [Element], error: ApiConnectorError?) {
        var parser = format.parser(other ?? context)
        var elements: [Element] = []
        do throws(ApiConnectorError) {
            for chunk in chunks where !chunk.isEmpty {
                parser.append(chunk)
                try parser.read(&elements, upTo: .max)
                if parser.isOver { return (elements, nil) }
            }
            parser.end()
            try parser.read(&elements, upTo: .max)
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }

    /// How the elements of the body in chunks differ from those of the whole; nil where they do not.
    func cutFault<Element: Equatable>(_ format: StreamFormat<Element>) -> String? {
        let whole = parse(format, [body])
        for chunks in [chunks, body.map { Data([$0]) }] {
            let cut = parse(format, chunks)
            guard cut.elements == whole.elements, cut.error?.detail == whole.error?.detail else {
                return "in chunks of \(chunks.map(\.count)) it is \(cut), and else \(whole)"
            }
        }
        return nil
    }
}

/// The lines of a body without its byte-order mark, by hand.
private func plainLines(_ body: Data) -> [Data] {
    let bytes = Array(body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body)
    var lines: [Data] = []
    var line = Data()
    var place = 0
    while place < bytes.count {
        let byte = bytes[place]
        place += 1
        guard byte == 0x0A || byte == 0x0D else {
            line.append(byte)
            continue
        }
        if byte == 0x0D, place < bytes.count, bytes[place] == 0x0A { place += 1 }
        lines.append(line)
        line = Data()
    }
    return line.isEmpty ? lines : lines + [line]
}

extension FuzzTarget {
    /// Events are what the standard's own words, taken one by one, make of the lines.
    fileprivate static func eventFault(_ input: FuzzInput) -> String? {
        let found = input.parse(StreamFormat<ServerSentEvent>.events, [input.body])
        guard found.error == nil else { return nil }
        let isEnded = input.body.last == 0x0A || input.body.last == 0x0D
        var lines = plainLines(input.body)
        if !isEnded { lines = lines.dropLast() }
        var (data, type, id) = (Data(), "", "")
        var events: [ServerSentEvent] = []
        for line in lines {
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
            let name = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
            var value = colon.map { line[($0 + 1)...] } ?? Data()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            switch name {
            case "" where line.isEmpty:
                if !data.isEmpty {
                    let text = String(decoding: data.dropLast(), as: UTF8.self)
                    events.append(ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, id: id))
                }
                (data, type) = (Data(), "")
            case "data": data += value + Data([0x0A])
            case "event": type = String(decoding: value, as: UTF8.self)
            case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
            default: break
            }
        }
        return found.elements == events ? nil : "\(found.elements) are not the events \(events)"
    }
}

extension WebLink {
    /// The link as a field has it.
    fileprivate var printed: String {
        func quoted(_ value: String) -> String {
            var bytes: [UInt8] = []
            for byte in value.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
            return "\"\(String(decoding: bytes, as: UTF8.self))\""
        }
        var text = "<\(target.absoluteString)>; rel=\(quoted(relations.joined(separator: " ")))"
        text += "; anchor=\(quoted(context.absoluteString))"
        for attribute in attributes { text += "; \(attribute.name)=\(quoted(attribute.value))" }
        return text
    }
}
