// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Synchronization
import Testing

/// Elements of an array that arrive together are decoded together, with the same result as one by one.
struct JoinedDecodingTests {
    private struct Row: Codable, Equatable, Sendable {
        var name: String
        var note: String?
        var date: Date
        var numbers: [[Double]]
    }

    private typealias Found = (elements: [String], error: String?)

    /// The elements and the error that a format reads from chunks, as text.
    ///
    /// If its user info is not empty, the decoder decodes each element separately.
    private static func read<Element: Sendable>(
        _ format: StreamFormat<Element>,
        _ chunks: [Data],
        eachByItself: Bool,
        _ configure: (JSONDecoder) -> Void = { _ in }
    ) async -> Found {
        let decoder = JSONDecoder()
        configure(decoder)
        if eachByItself, let key = CodingUserInfoKey(rawValue: "by itself") { decoder.userInfo[key] = true }
        let found = await elements(format, in: chunks, decoder: decoder)
        return (found.elements.map { String(describing: $0) }, found.error.map { String(describing: $0) })
    }

    /// A text, valid or not, that may are in an array.
    private static func element(_ random: inout SplitMix64, _ texts: inout HostileText, _ flaws: Bool) throws -> String
    {
        switch Int.random(in: 0..<(flaws ? 40 : 30), using: &random) {
        case 30:
            return ["tru", "nul", "1 2", "{]", "\"\u{1}\"", "+1", "[1,]", "{\"a\"}"].randomElement(using: &random) ?? ""
        case 31: return "null"
        case 32: return "\(Int.random(in: -9...9, using: &random))"
        case 33: return #"{"name":1,"date":2,"numbers":[]}"#
        default:
            let row = Row(
                name: texts.next(),
                note: Bool.random(using: &random) ? texts.next() : nil,
                date: Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...99, using: &random))),
                numbers: Array(repeating: [1.5, 2], count: Int.random(in: 0...3, using: &random))
            )
            return String(decoding: try JSONEncoder().encode(row), as: UTF8.self)
        }
    }

    @Test func decodesElementsAsOneByOneDecodingDoes() async throws {
        await SplitMix64.runs(SplitMix64.caseCount / 20) { random in
            var texts = HostileText(random)
            let flaws = Bool.random(using: &random)
            let count = [2, 5, 40].randomElement(using: &random) ?? 2
            let body = try (0..<count).map { _ in try Self.element(&random, &texts, flaws) }.joined(separator: " , ")
            let chunks = Cuts.chunks(of: Data("[\(body)]".utf8), Int.random(in: 1...4000, using: &random))
            func expectTheSame<Element: Sendable>(_ format: StreamFormat<Element>) async {
                let one = await Self.read(format, chunks, eachByItself: true)
                let all = await Self.read(format, chunks, eachByItself: false)
                #expect(all == one, "\(body)")
            }
            await expectTheSame(StreamFormat<Row>.elements)
            await expectTheSame(StreamFormat<Row?>.elements)
            await expectTheSame(StreamFormat<JSONValue>.elements)
            await expectTheSame(.skippingUndecodable(StreamFormat<Row>.elements))
            await expectTheSame(.results(StreamFormat<Row>.elements))
        }
    }

    @Test(arguments: [
        "1,2,3", "\"a,b\",\"]\",\"[\\\"\"", "null,null", "true,false", "[],[[1,2],[3]],{\"a\":{}}", "1.5e3,-0,12e-1",
    ])
    func acceptsAllJSON(_ elements: String) async throws {
        let text = Data("[\(elements)]".utf8)
        let whole = try JSONDecoder().decode([JSONValue?].self, from: text)
        let found = await ApiConnectorTests.elements(of: JSONValue?.self, .elements, in: [text])
        #expect(found.elements == whole)
        #expect(found.error == nil)
    }

    @Test func namesTheElementThatDoesNotDecode() async {
        let numbers = (1...700).map { $0 == 600 ? "\"x\"" : "\($0)" }
        let text = "[" + numbers.joined(separator: ",") + "]"
        let offset = numbers[..<599].reduce(1) { $0 + $1.utf8.count + 1 }
        let found = await elements(of: Int.self, .elements, in: [Data(text.utf8)])
        #expect(found.elements == Array(1...599))
        #expect(found.error?.kind == .decodingFailed)
        #expect(
            found.error?.detail
                == "record 600, which begins at byte \(offset) of the body, does not decode as Int: at the top level a "
                + "value of type Int was expected; found \"x\""
        )
        let skipped = await elements(of: Int.self, .skippingUndecodable(.elements), in: [Data(text.utf8)])
        #expect(skipped.elements == Array(1...599) + Array(601...700))
        #expect(skipped.error == nil)
    }

    @Test func yieldsCompleteElementsBeforeMoreBytesArrive() async throws {
        let chunks = Mutex([Data("[1,2,3,4".utf8), Data("5,6]".utf8)])
        let pullCount = Atomic(0)
        let body = ResponseBody(pulling: { () throws(ApiConnectorError) in
            pullCount.add(1, ordering: .relaxed)
            return chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        })
        var iterator = body.stream(of: Int.self, as: .elements).makeAsyncIterator()
        for number in 1...3 {
            #expect(try await iterator.next() == number)
            #expect(pullCount.load(ordering: .relaxed) == 1)
        }
        #expect(try await iterator.next() == 45)
        #expect(try await iterator.next() == 6)
        #expect(try await iterator.next() == nil)
    }

    @Test func aCommentOfJSON5EndsWithItsRecord() async {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let found = await elements(of: Int.self, .jsonLines, in: [Data("1,2/*\n*/\n".utf8)], decoder: decoder)
        #expect(found.elements.isEmpty)
        #expect(found.error?.kind == .decodingFailed)
    }

    /// Records the coding path that its initializer sees.
    private struct Placed: Decodable, Sendable {
        let path: [String]

        init(from decoder: any Decoder) throws {
            let seen = decoder.userInfo.values.first as? Seen
            seen?.count.add(1, ordering: .relaxed)
            path = decoder.codingPath.map(\.stringValue)
            if try decoder.singleValueContainer().decode(Int.self) < 0 { throw CancellationError() }
        }
    }

    private final class Seen: Sendable {
        let count = Atomic(0)
    }

    @Test func decodesEachElementOnceForADecoderWithUserInfo() async throws {
        let seen = Seen()
        let decoder = JSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "seen"))] = seen
        let found = await elements(
            of: Placed.self,
            .skippingUndecodable(.elements),
            in: [Data("[1,2,-3,4]".utf8)],
            decoder: decoder
        )
        #expect(found.elements.map(\.path) == [[], [], []])
        #expect(seen.count.load(ordering: .relaxed) == 4)
    }

    @Test func showsNoIndexToAStrategyOfTheUsers() async {
        let paths = Mutex<Set<[String]>>([])
        let text = Data(#"[{"a":1},{"a":2},{"a":3}]"#.utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            paths.withLock { _ = $0.insert(path.map(\.stringValue)) }
            return path[path.count - 1]
        }
        #expect(await elements(of: [String: Int].self, .elements, in: [text], decoder: decoder).elements.count == 3)
        #expect(paths.withLock { $0 }.allSatisfy { $0 == ["a"] })

        let dated = JSONDecoder()
        dated.dateDecodingStrategy = .custom { decoder in
            paths.withLock { _ = $0.insert(decoder.codingPath.map(\.stringValue)) }
            return Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self))
        }
        #expect(await elements(of: [String: Date].self, .elements, in: [text], decoder: dated).elements.count == 3)
        let binary = JSONDecoder()
        binary.dataDecodingStrategy = .custom { decoder in
            paths.withLock { _ = $0.insert(decoder.codingPath.map(\.stringValue)) }
            return Data([try decoder.singleValueContainer().decode(UInt8.self)])
        }
        #expect(await elements(of: [String: Data].self, .elements, in: [text], decoder: binary).elements.count == 3)
        #expect(paths.withLock { $0 }.allSatisfy { $0 == ["a"] })
    }

    @Test(arguments: [["1", "2"], ["'a", "b'", "'\"', '\"'"], ["1 /*", "*/ 2"]])
    func readsJSON5AsItDoesElementByElement(_ texts: [String]) async {
        let chunks = [Data("[\(texts.joined(separator: ","))]".utf8)]
        let one = await Self.read(StreamFormat<JSONValue>.elements, chunks, eachByItself: true) {
            $0.allowsJSON5 = true
        }
        let all = await Self.read(StreamFormat<JSONValue>.elements, chunks, eachByItself: false) {
            $0.allowsJSON5 = true
        }
        #expect(all == one)
    }
}
