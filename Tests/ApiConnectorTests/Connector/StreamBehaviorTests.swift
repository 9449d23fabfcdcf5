// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// Rules of every stream, over both transports and with canned responses.
struct StreamBehaviorTests {
    private typealias Answer = SteppedServer.Answer

    private let route = Endpoint<ApiPath>("/stream")

    @Test(arguments: Wire.allCases)
    func areColdAndSendARequestEachTime(_ wire: Wire) async throws {
        let answer = Answer(type: "application/x-ndjson", steps: [.send("1\n2"), .send("\n3")])
        let server = try SteppedServer(over: wire, [answer, answer])
        let stream = server.connection().stream(of: Int.self, at: route)
        let unused = stream.makeAsyncIterator()
        #expect(server.requests.isEmpty)
        for round in 1...2 {
            var numbers: [Int] = []
            for try await number in stream { numbers.append(number) }
            #expect(numbers == [1, 2, 3])
            #expect(server.requests.count == round)
        }
        _ = unused
    }

    @Test(arguments: Wire.allCases)
    func yieldEachElementWhileTheServerHoldsTheRest(_ wire: Wire) async throws {
        let gates = [Gate("second"), Gate("end")]
        let steps: [SteppedServer.Step] = [
            .send("data: 1\n\nda"), .wait(gates[0]), .send("ta: 2\n\n"), .wait(gates[1]),
        ]
        let server = try SteppedServer(over: wire, [Answer(steps: steps)])
        var elements = server.connection().stream(of: Int.self, at: route).makeAsyncIterator()
        #expect(try await elements.next() == 1)
        gates[0].open()
        #expect(try await elements.next() == 2)
        gates[1].open()
        #expect(try await elements.next() == nil)
        #expect(try await elements.next() == nil)
    }

    /// Formats whose elements are complete before the next element arrives.
    private static let held: [(type: String, format: StreamFormat<[Int]>, first: String, second: String)] = [
        ("application/json-seq", .jsonSequence, "\u{1E}[1]\n", "\u{1E}[2]"),
        ("application/json", .elements, "[[1]", ",[2]"),
        ("application/json", .elements(at: "a"), #"{"a":[[1]"#, ",[2]"),
        ("application/x-ndjson", .jsonLines, "[1]\n", "[2]\n"),
    ]

    @Test(arguments: Wire.allCases, held.indices)
    func yieldEachRecordBeforeTheNextOneArrives(_ wire: Wire, _ row: Int) async throws {
        let (type, format, first, second) = Self.held[row]
        let gates = [Gate("second"), Gate("end")]
        let steps: [SteppedServer.Step] = [.send(first), .wait(gates[0]), .send(second), .wait(gates[1]), .send("]}")]
        let server = try SteppedServer(over: wire, [Answer(type: type, steps: steps)])
        var elements = server.connection().stream(at: route, as: format).makeAsyncIterator()
        #expect(try await elements.next() == [1])
        gates[0].open()
        #expect(try await elements.next() == [2])
        gates[1].open()
    }

    @Test(arguments: Wire.allCases)
    func closeTheConnectionWhenTheLoopIsLeft(_ wire: Wire) async throws {
        let left = Gate("left")
        let server = try SteppedServer(over: wire, [Answer(steps: [.send("data: 1\n\n"), .hold(left)])])
        for try await number in server.connection().stream(of: Int.self, at: route) {
            #expect(number == 1)
            #expect(!left.isOpen)
            break
        }
        try await left.opened()
    }

    @Test(arguments: Wire.allCases)
    func endAtOnceWithTheirTask(_ wire: Wire) async throws {
        let left = Gate("left")
        let seen = Gate("first element")
        let server = try SteppedServer(over: wire, [Answer(steps: [.send("data: 1\n\n"), .hold(left)])])
        let api = server.connection()
        let loop = Task { () async throws(ApiConnectorError) -> [Int] in
            for try await _ in api.stream(of: Int.self, at: route) { seen.open() }
            return []
        }
        try await seen.opened()
        loop.cancel()
        let result = await loop.result
        let error = try #require(throws: ApiConnectorError.self) { try result.get() }
        #expect(error.kind == .cancelled)
        try await left.opened()
    }

    @Test(arguments: Wire.allCases)
    func yieldTheElementsBeforeALostConnection(_ wire: Wire) async throws {
        let answer = Answer(type: "application/x-ndjson", steps: [.send("1\n2\n3"), .breakOff])
        let server = try SteppedServer(over: wire, [answer])
        var elements: [Int] = []
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await element in server.connection().stream(of: Int.self, at: route) { elements.append(element) }
        }
        #expect(error?.kind == .connectionLost)
        #expect(error?.request?.url.hasSuffix("/stream") == true)
        #expect(error?.response?.status == 200)
        #expect(elements == [1, 2])
    }

    @Test(arguments: Wire.allCases)
    func delayNoOtherCallWhileTheyAreNotRead(_ wire: Wire) async throws {
        let left = Gate("left")
        let server = try SteppedServer(over: wire, [Answer(steps: [.send("data: 1\n\ndata: 2\n\n"), .hold(left)])])
        let api = server.connection()
        var elements = api.stream(of: Int.self, at: route).makeAsyncIterator()
        #expect(try await elements.next() == 1)
        for _ in 0..<50 { #expect(try await api.value(Int.self, at: Endpoint("/other")) == 1) }
        #expect(!left.isOpen)
        #expect(try await elements.next() == 2)
    }

    /// Reads numbers, and lets one wait pass.
    private func read(
        _ server: SteppedServer,
        as format: StreamFormat<Int>
    ) async throws -> [Int] {
        let clock = ManualClock()
        let waiting = Task { clock.advance(by: try await clock.nextSleep()) }
        var numbers: [Int] = []
        for try await number in server.connection(timeSource: clock).stream(at: route, as: format) {
            numbers.append(number)
        }
        try await waiting.value
        return numbers
    }

    @Test(arguments: Wire.allCases)
    func resumeAfterTheLastEventIfEnabled(_ wire: Wire) async throws {
        let server = try SteppedServer(
            over: wire,
            [
                Answer(steps: [.send("id: a\ndata: 1\n\nda"), .breakOff]),
                Answer(steps: [.send("id: b\ndata: 2\n\ndata: 0\n\n"), .send("data: 3\n\n")]),
            ]
        )
        let format = StreamFormat<Int>.events { $0.data == "0" }
        #expect(try await read(server, as: format.resuming()) == [1, 2])
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "a"])
    }

    @Test(arguments: Wire.allCases)
    func resumeAfterTheLastRecordIfEnabled(_ wire: Wire) async throws {
        let type = "application/x-ndjson"
        let tag = (name: "ETag", value: "\"v1\"")
        let range = (name: "Content-Range", value: "bytes 2-4/5")
        let server = try SteppedServer(
            over: wire,
            [
                Answer(fields: [tag], type: type, steps: [.send("1\n2"), .breakOff]),
                Answer(status: 206, fields: [tag, range], type: type, steps: [.send("2\n3")]),
            ]
        )
        #expect(try await read(server, as: .jsonLines.resuming()) == [1, 2, 3])
        #expect(server.requests.map { $0[.range] } == [nil, "bytes=2-"])
    }
}
