// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@testable import ApiConnectorTesting

@Suite(.timeLimit(.minutes(10))) struct ChunkingTests {
    private let bytes = Data((0..<100).map { UInt8($0) })
}

extension ChunkingTests {
    @Test func everyChunkingYieldsEveryByte() {
        let text = Data("data: {\"a\":\"é😀\\u00e9\",\"n\":-12.5e3}\r\n\r\n".utf8)
        for body in [bytes, text, Data("x".utf8), Data()] {
            for chunking in Chunking.all(of: [body]) {
                // However it has come.
                for size in [1, 3, 7, 1000] {
                    var pieces: [Data] = []
                    for start in stride(from: 0, to: body.count, by: size) {
                        pieces += chunking.cut(body.dropFirst(start).prefix(size), at: start)
                    }
                    #expect(pieces.reduce(Data(), +) == body && !pieces.contains(Data()), "\(chunking)")
                }
            }
        }
    }

    @Test func cutsAtSizesAndAtOffsets() {
        #expect(Chunking.every(3).cut(bytes.prefix(7), at: 0).map(\.count) == [3, 3, 1])
        #expect(Chunking.every(3).cut(bytes.prefix(7), at: 2).map(\.count) == [1, 3, 3])
        #expect(Chunking.at([5, 2]).cut(bytes.prefix(7), at: 0).map(\.count) == [2, 3, 2])
        #expect(Chunking.at([5, 2]).cut(bytes.prefix(7), at: 4).map(\.count) == [1, 6])
    }

    @Test(
        arguments: [
            ("é", [1]), ("a😀", [2, 3, 4]), ("\r\n", [1]), ("a\nb", [1, 2]), ("12", [1]), ("d:x", [1, 2]), ("ab", []),
            ("\\nabcdefg", [1, 2, 3, 4, 5]), ("\u{FEFF}", [1, 2]),
        ] as [(String, [Int])]
    )
    func knowsTheHostilePlaces(_ text: String, _ offsets: [Int]) {
        #expect(Chunking.hostileOffsets(of: Data(text.utf8)) == offsets)
    }

    @Test func triesEverySizeAndEveryPlaceOfAShortBody() {
        let all = Chunking.all(of: [bytes])
        #expect(
            all.prefix(18).map(\.description) == ["chunks of 1 byte"] + (2...16).map { "chunks of \($0) bytes" }
                + ["chunks of 32 bytes", "chunks of 64 bytes"]
        )
        #expect(all.suffix(99).map(\.description) == (1..<100).map { "cut at \($0)" })
    }

    /// One that takes each chunk for its own character is found out, at the places where it goes wrong.
    @Test func findsAReaderThatFailsAtACut() async throws {
        let text = "aé"
        let provider = TestConnector { _ in .data(Data(text.utf8)) }
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everyChunking { run in
                var request = ApiRequest(url: ShopServer.elsewhere)
                request.delivery = .streamed
                request.timeSource = run.timeSource
                var read = ""
                for try await chunk in try await provider.injecting(run).response(for: request).body {
                    read += String(decoding: chunk, as: UTF8.self)
                }
                if read != text { throw CancellationError() }
            }
        }
        let wrong = failure?.description.split(separator: "\n").dropFirst().map { $0.dropFirst(2).prefix { $0 != ":" } }
        #expect(wrong == ["chunks of 1 byte", "chunks of 2 bytes", "cut at 2", "cut at 2"])
    }

    @Test func aBodyThatIsNotStreamedIsNotCut() async throws {
        let failure = await #expect(throws: FaultFailure.self) {
            try await FaultTest.everyChunking { run in
                var request = ApiRequest(url: ShopServer.elsewhere)
                request.timeSource = run.timeSource
                _ = try await TestConnector { _ in .json(Tea.green) }.injecting(run).response(for: request)
            }
        }
        #expect(failure?.description == "No response body was streamed, and only streamed bodies are cut.")
    }

    @Test(arguments: ["json", "lines", "array", "events"])
    func everyFormatDecodesItsElementsWithEveryChunking(_ format: String) async throws {
        let teas = [Tea(id: 1, name: "grün"), Tea(id: 22, name: "\u{1F375} \"b\\"), Tea(id: -3, name: "")]
        let texts = try teas.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        let body =
            switch format {
            case "json": texts[1]
            case "lines": texts.joined(separator: "\r\n") + "\n"
            case "array": "{\"data\":{\"items\":[\(texts.joined(separator: " , "))]}}"
            default: texts.map { "id: \($0.count)\r\nevent: tea\rdata: \($0)\r\n\r\n" }.joined()
            }
        let runs = try await FaultTest.everyChunking { run in
            let type = format == "events" ? "text/event-stream" : "application/json"
            let provider = TestConnector { _ in .data(Data(body.utf8), headers: [.contentType: type]) }
            let shop = NetworkConnector(
                environment: .test,
                provider: provider.injecting(run),
                router: Shop.self,
                configuration: ConnectionConfiguration(timeSource: run.timeSource)
            )
            let stream: ResponseStream<Tea> =
                switch format {
                case "json": shop.stream(at: .tea(id: 1))
                case "lines": shop.stream(at: .tea(id: 1), as: .jsonLines)
                case "array": shop.stream(at: .tea(id: 1), as: .elements(at: "data.items"))
                default: shop.stream(at: .tea(id: 1), as: .events)
                }
            var read: [Tea] = []
            for try await tea in stream { read.append(tea) }
            #expect(read == (format == "json" ? [teas[1]] : teas), "\(run)")
        }
        #expect(runs > body.utf8.count)
    }
}
