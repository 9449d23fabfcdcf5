// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

@testable import ApiConnectorRecording
import ApiConnector
import Testing

@testable import ApiConnectorTesting

/// A recording returns the same response or error as the recorded provider.
@Suite(.timeLimit(.minutes(10)))
struct ReplayPropertyTests {}

extension ReplayPropertyTests {
    /// The result of one request.
    private struct Seen: Equatable {
        var status: HTTPStatus?
        var headers = HTTPHeaders()
        var chunks: [Data] = []
        var kind: ApiConnectorError.Kind?
        var stage: ApiConnectorError.Stage?
        var detail: String?
    }

    private static let runCount = max(SplitMix64.caseCount / 50, 1)

    @Test func aReplayAnswersAsTheRecordedProviderDid() async throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64.printed()
        for run in 0..<Self.runCount {
            let answers = (0..<Int.random(in: 1...8, using: &random)).map { _ in Self.answer(&random) }
            let requests = try answers.indices.map { _ in try Self.request(&random) }
            let numbers = Locked(0)
            let provider = TestConnector { _ in
                answers[
                    numbers.withLock { number in
                        defer { number += 1 }
                        return number
                    }
                ]
            }
            let file = folder.file("\(run).har")
            let recorder = try Recorder(file, mode: .record)
            let recorded = provider.recording(by: recorder)
            var wanted: [Seen] = []
            for request in requests { wanted.append(await Self.seen(recorded, request)) }
            try recorder.save()

            let replay = TestConnector(try Replay(contentsOf: file))
            for (number, request) in requests.enumerated() {
                let seen = await Self.seen(replay, request)
                #expect(seen == wanted[number], "run \(run), request \(number)")
                guard seen == wanted[number] else { return }
            }
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func aWrittenExchangeIsReadUnchanged() throws {
        var random = SplitMix64.printed()
        for run in 0..<SplitMix64.caseCount / 10 {
            let exchange = Self.exchange(&random)
            let data = try HARWriter.data([exchange])
            let read = try Recording(har: data).exchanges
            #expect(read == [exchange], "run \(run)")
            guard read == [exchange] else { return }
        }
    }

    private static func seen(_ provider: some DataRequestType, _ request: ApiRequest) async -> Seen {
        var seen = Seen()
        do throws(ApiConnectorError) {
            let response = try await provider.response(for: request)
            seen.status = response.status
            seen.headers = response.headers
            if request.delivery == .streamed {
                for try await chunk in response.body { seen.chunks.append(chunk) }
            } else {
                seen.chunks = [try await response.body.collect(upTo: .max)]
            }
        } catch {
            // A collected body that breaks off is no response, and it does not matter who has collected it.
            if request.delivery != .streamed { seen = Seen() }
            (seen.kind, seen.stage, seen.detail) = (error.kind, error.stage, error.detail)
        }
        return seen
    }

    private static func request(_ random: inout SplitMix64) throws -> ApiRequest {
        let number = Int.random(in: 0...2, using: &random)
        var request = ApiRequest(url: try #require(URL(string: "http://h/items/\(number)?q=\(number)%20%2B")))
        request.method = [.get, .post, .head, .delete].randomElement(using: &random) ?? .get
        if request.method == .post {
            let body = bytes(&random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: request.body = .data(body)
            case 1: request.body = .stream { AsyncStream([body]) }
            case 2: request.body = .form(["a": "b c", "d": "é&="])
            default: request.body = .json(["a": number])
            }
        }
        if Bool.random(using: &random) { request.delivery = .streamed }
        return request
    }

    private static func answer(_ random: inout SplitMix64) -> TestConnectorResponse {
        let status = HTTPStatus(
            rawValue: [200, 201, 204, 302, 304, 404, 500, 599].randomElement(using: &random) ?? 200
        )
        var headers: HTTPHeaders = ["X-Number": "\(Int.random(in: 0...9, using: &random))"]
        headers.append(
            "Content-Type",
            ["text/plain", "application/octet-stream", "x"].randomElement(using: &random) ?? ""
        )
        if Bool.random(using: &random) { headers.append("X-Number", "again") }
        let chunks = (0..<Int.random(in: 0...4, using: &random)).map { _ in bytes(&random) }
        let whole = TestConnectorResponse.data(Data(chunks.joined()), status: status, headers: headers)
        let parts = TestConnectorResponse.chunks(chunks, status: status, headers: headers)
        switch Int.random(in: 0...5, using: &random) {
        case 0: return .failure(URLError(.timedOut))
        case 1: return .failure(ApiConnectorError(.secureConnectionFailed, at: .response, "no \u{1F511} fits"))
        case 2: return parts.failing(.afterByteCount(Int.random(in: 0...20, using: &random)))
        case 3: return whole
        default: return parts
        }
    }

    /// Random bytes, as a text or not; without two slashes in a row, because a redactor looks for a password after them.
    private static func bytes(_ random: inout SplitMix64) -> Data {
        let count = Int.random(in: 0...40, using: &random)
        guard Bool.random(using: &random) else {
            return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }.filter { $0 != 0x2F })
        }
        let pieces = ["a", "é", "\u{1F511}", "\"", "\\", "\n", "\r", "\0", "x/", "1", " ", "\u{2028}", "\u{FEFF}"]
        return Data((0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined().utf8)
    }

    private static func exchange(_ random: inout SplitMix64) -> RecordedExchange {
        var exchange = RecordedExchange(
            started: Date(timeIntervalSince1970: Double(Int.random(in: 0...2_000_000_000, using: &random))),
            method: ["GET", "POST", "", "g\"t"].randomElement(using: &random) ?? "GET",
            url: ["http://h/", "", "http://h/%zz?a=%", "data:,x"].randomElement(using: &random) ?? "",
            headers: ["Cookie": "a=b; c", "X": "é\"\\"],
            body: bytes(&random)
        )
        func time(_ random: inout SplitMix64) -> Duration {
            .microseconds(Int64.random(in: 0...10_000_000, using: &random))
        }
        exchange.headTime = time(&random)
        exchange.endTime = exchange.headTime
        guard Bool.random(using: &random) else {
            exchange.end = .failed(RecordedFailure(kind: .init(rawValue: "x"), stage: .response, detail: "é\n"))
            return exchange
        }
        exchange.status = HTTPStatus(rawValue: Int.random(in: 1...9999, using: &random))
        exchange.answerHeaders = ["Set-Cookie": "a=b; Path=/", "Content-Encoding": "gzip", "Content-Length": "1"]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let part = bytes(&random)
            guard !part.isEmpty else { continue }
            exchange.answer.append(part)
            exchange.endTime += time(&random)
            exchange.chunks.append(.init(end: exchange.answer.count, time: exchange.endTime))
        }
        switch Int.random(in: 0...2, using: &random) {
        case 0: exchange.end = .left
        case 1: exchange.end = .failed(RecordedFailure(kind: .connectionLost, stage: .provider, detail: ""))
        default: break
        }
        return exchange
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
