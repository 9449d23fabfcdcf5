// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorRecording
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// The files of an archive and of the recorder are valid against the schema of HAR 1.2.
struct HARSchemaTests {
    private static let url = URL(string: "http://localhost/tea?kind=green") ?? URL(filePath: "/")

    /// Requests and responses of all kinds: forms, cookies, bytes that are no text, failures, streams, redirects.
    private static func answer(_ request: ApiRequest) async throws -> TestConnectorResponse {
        switch request.attempt {
        case 1: .data(Data([0xFF, 0x00]), headers: ["Set-Cookie": "id=1; Path=/", "Content-Type": "image/png"])
        case 2: .status(302, headers: ["Location": "/new"])
        case 3: throw ApiConnectorError(.connectionLost, "the server closed the connection")
        case 4: .json(["name": "green"]).chunked(byteCount: 3)
        default: .data(Data(repeating: 0x78, count: 1_000))
        }
    }

    private static func requests() -> [ApiRequest] {
        let bodies: [RequestBody] = [
            .empty, .form(["kind": "green tea"]), .data(Data([0xFE])), .json(["count": 1]), .text("tea"),
        ]
        return bodies.enumerated().map { index, body in
            var request = ApiRequest(url: url, method: body.isEmpty ? .get : .post, headers: ["Cookie": "a=1; b"])
            request.body = body
            request.attempt = index + 1
            request.timeSource = ManualClock()
            return request
        }
    }

    private func send(_ requests: [ApiRequest], by provider: some DataRequestType) async {
        for request in requests {
            guard let response = try? await provider.response(for: request) else { continue }
            _ = try? await response.body.collect(upTo: 10_000)
        }
    }

    @Test func theFileOfAnArchiveIsValid() async throws {
        let archive = ExchangeArchive(bodyByteCount: 100)
        await send(Self.requests(), by: TestConnector(Self.answer).archived(in: archive))
        // One goes on.
        var running = Self.requests()[3]
        running.delivery = .streamed
        let response = try await TestConnector(Self.answer).archived(in: archive).response(for: running)
        let har = try archive.har()
        #expect(try HARSchema.flaws(of: har) == [])
        #expect(archive.exchanges.count == 6)
        _ = try await response.body.collect(upTo: 100)
    }

    @Test func anEntrysTimeIsTheSumOfItsPhases() throws {
        var times = TransportTimes()
        for (index, phase) in TransportTimes.Phase.allCases.enumerated() { times[phase] = .milliseconds(1 << index) }
        let record = TransportTimesRecord()
        record.update { $0 = times }
        let entry = ArchiveEntry(Self.requests()[0], number: 1, bodyByteCount: 10)
        _ = entry.end(.left(200), record)
        let exchange = ArchivedExchange(entry.snapshot(), .standard, 10)
        let har = try JSONDecoder().decode(JSONValue.self, from: HARFile.data([HAREntry(exchange)]))
        let written = har["log"]["entries"][0]
        let timings: JSONValue = [
            "blocked": 1, "dns": 2, "connect": 12, "ssl": 8, "send": 16, "wait": 32, "receive": 64,
        ]
        #expect(written["timings"] == timings)
        // The TLS handshake is a part of connecting.
        #expect(written["time"] == 127)
    }

    @Test func theFileOfARecorderIsValid() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "recorded-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = try Recorder(file, mode: .record)
        await send(Self.requests(), by: TestConnector(Self.answer).recording(by: recorder))
        try recorder.save()
        #expect(try HARSchema.flaws(of: Data(contentsOf: file)) == [])
    }

    @Test func aFormIsTextAsItWasSent() async throws {
        let archive = ExchangeArchive()
        await send([Self.requests()[1]], by: TestConnector(Self.answer).archived(in: archive))
        let har = try JSONDecoder().decode(JSONValue.self, from: archive.har())
        let postData: JSONValue = ["mimeType": "application/x-www-form-urlencoded", "text": "kind=green+tea"]
        #expect(har["log"]["entries"][0]["request"]["postData"] == postData)
    }

    @Test(arguments: [("2", "HTTP/2"), ("1.1", "HTTP/1.1"), (nil, "")] as [(String?, String)])
    func anUnknownVersionIsEmpty(_ version: String?, _ text: String) throws {
        let record = TransportTimesRecord()
        record.update { $0.httpVersion = version }
        let entry = ArchiveEntry(Self.requests()[0], number: 1, bodyByteCount: 10)
        _ = entry.end(.left(200), record)
        let exchange = ArchivedExchange(entry.snapshot(), .standard, 10)
        let har = try JSONDecoder().decode(JSONValue.self, from: HARFile.data([HAREntry(exchange)]))
        let written = har["log"]["entries"][0]
        #expect(written["request"]["httpVersion"] == JSONValue.string(text))
        #expect(written["response"]["httpVersion"] == JSONValue.string(text))
    }

    @Test func textAndParametersExcludeEachOther() throws {
        func flaws(_ fields: String) throws -> [String] {
            let request = "{\"postData\": {\"mimeType\": \"a/b\"\(fields)}}"
            let file = "{\"log\": {\"version\": \"1.2\", \"creator\": {}, \"entries\": [{\"request\": \(request)}]}}"
            return try HARSchema.flaws(of: Data(file.utf8)).filter { $0.contains("postData") }
        }
        let place = ".log.entries[0].request.postData"
        #expect(try flaws(", \"text\": \"\"") == [])
        #expect(try flaws(", \"params\": []") == [])
        #expect(try flaws("") == ["\(place) has 0 of 2 fields"])
        #expect(try flaws(", \"text\": \"\", \"params\": []") == ["\(place) has 2 of 2 fields"])
    }

    @Test func theSchemaFindsErrors() throws {
        let file = Data(#"{"log": {"version": "1.1", "creator": {"name": 1}, "entries": [{"time": -1}], "x": 1}}"#.utf8)
        let flaws = try HARSchema.flaws(of: file)
        for flaw in [
            ".log.version is not \"1.2\"", ".log.creator.name is no string", ".log.creator has no version",
            ".log.entries[0] has no request", ".log.entries[0].time is less than 0", ".log has an unknown x",
        ] { #expect(flaws.contains(flaw), "\(flaws)") }
    }
}
