// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// NDJSON that breaks off and is resumed by `Range`.
@Suite struct ResumedLineTests {
    private static let body = "\u{FEFF}1\n22\r\n\n333\n4444\n"

    /// One answer of the server, in order.
    private struct Answer: Sendable {
        var status = 200
        var fields = [("ETag", "\"v1\"")]
        /// What is announced.
        var whole: Substring
        /// How many bytes of it come; all by default.
        var byteCount: Int?

        /// The whole body, broken off behind so many bytes.
        static func whole(upTo byteCount: Int? = nil, _ fields: [(String, String)] = [("ETag", "\"v1\"")]) -> Answer {
            Answer(fields: fields, whole: body[...], byteCount: byteCount)
        }

        /// What a server sends of the body from a byte on.
        static func rest(
            from offset: Int,
            upTo byteCount: Int? = nil,
            range: String? = nil,
            _ fields: [(String, String)] = [("ETag", "\"v1\"")]
        ) -> Answer {
            let total = body.utf8.count
            let field = ("Content-Range", range ?? "bytes \(offset)-\(total - 1)/\(total)")
            let rest = Substring(body.utf8.dropFirst(offset))
            return Answer(status: 206, fields: fields + [field], whole: rest, byteCount: byteCount)
        }
    }

    private let clock = ManualClock()
    private let policy = ResumePolicy(maximumAttemptCount: 3, random: { 0.5 })

    private func server(_ answers: [Answer]) throws -> LoopbackServer {
        let next = Locked(0)
        return try LoopbackServer { connection in
            guard try connection.readRequest() != nil else { return }
            let number = next.withLock { number in
                defer { number += 1 }
                return number
            }
            guard answers.indices.contains(number) else { return }
            let answer = answers[number]
            let bytes = Data(answer.whole.utf8)
            let fields = answer.fields.map { "\($0.0): \($0.1)\r\n" }.joined()
            try connection.send(
                "HTTP/1.1 \(answer.status) X\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\(fields)"
                    + "Content-Length: \(bytes.count)\r\n\r\n"
            )
            try connection.send(bytes.prefix(answer.byteCount ?? bytes.count))
            try connection.finishSending()
            try connection.waitUntilPeerCloses()
        }
    }

    /// Reads numbers to the end of the stream, and lets each wait pass.
    private func read(
        _ answers: [Answer],
        over wire: Wire = .system,
        waiting count: Int,
        as format: StreamFormat<Int>? = nil,
        method: HTTPMethod = .get,
        options: CallOptions = CallOptions()
    ) async throws -> (numbers: [Int], error: ApiConnectorError?, requests: [LoopbackRequest]) {
        let server = try server(answers)
        let api = NetworkConnector(
            environment: Place(host: "127.0.0.1", port: server.port),
            provider: wire.transport,
            router: Endpoint<ApiPath>.self,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
        let waits = Task { [clock] in
            for _ in 0..<count { clock.advance(by: try await clock.nextSleep()) }
        }
        var numbers: [Int] = []
        var failure: ApiConnectorError?
        do throws(ApiConnectorError) {
            let stream = api.stream(
                at: Endpoint(path: "/", method: method),
                as: format ?? .jsonLines.resuming(policy),
                options: options
            )
            for try await number in stream { numbers.append(number) }
        } catch {
            failure = error
        }
        waits.cancel()
        return (numbers, failure, server.requests)
    }

    @Test(arguments: Wire.sockets)
    func goesOnBehindTheLastWholeRecord(_ wire: Wire) async throws {
        let found = try await read(
            [.whole(upTo: 11), .rest(from: 10, upTo: 3), .rest(from: 10)],
            over: wire,
            waiting: 2
        )
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.requests.map { $0.header("Range") } == [nil, "bytes=10-", "bytes=10-"])
        #expect(found.requests.map { $0.header("If-Range") } == [nil, "\"v1\"", "\"v1\""])
        #expect(found.requests.map { $0.header("Accept-Encoding") } == ["identity", "identity", "identity"])
    }

    @Test func losesAndRepeatsNothingWhereverItBreaks() async throws {
        let total = Self.body.utf8.count
        // Before its first byte there is no stream yet, and the first request is not repeated.
        for cut in 1..<total {
            let start = Self.start(of: cut)
            let found = try await read([.whole(upTo: cut), .rest(from: start)], waiting: 1)
            #expect(found.error == nil, "cut at \(cut)")
            #expect(found.numbers == [1, 22, 333, 4444], "cut at \(cut)")
            #expect(found.requests.last?.header("Range") == "bytes=\(start)-", "cut at \(cut)")
        }
    }

    /// From where the body is asked for when it broke off behind so many bytes.
    private static func start(of cut: Int) -> Int {
        var start = 0
        var isWithin = false
        // A mark that is not whole yet may be none.
        guard cut >= 3 else { return 0 }
        for (place, byte) in body.utf8.enumerated().prefix(cut) {
            if place < 3 || !isWithin && [0x0A, 0x0D, 0x20].contains(byte) {
                start = place + 1
            } else if byte == 0x0A {
                isWithin = false
                start = place + 1
            } else {
                isWithin = true
            }
        }
        return start
    }

    @Test func countsRecordsAndBytesFromTheStartOfTheBody() async throws {
        let answer = Answer(status: 206, fields: [("Content-Range", "bytes 10-18/19")], whole: "333\n\"x\" \n")
        let found = try await read([.whole(upTo: 10), answer], waiting: 1)
        #expect(found.numbers == [1, 22, 333])
        #expect(found.error?.kind == .decodingFailed)
        #expect(
            found.error?.detail.hasPrefix("record 4, which begins at byte 14 of the body, does not decode as Int: ")
                == true
        )
        #expect(found.requests.count == 2)
    }

    @Test func isNotResumedAtItsEnd() async throws {
        let found = try await read([.whole()], waiting: 0)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.error == nil)
        #expect(found.requests.count == 1)
    }

    @Test func knowsThatNothingWasMissing() async throws {
        // The last byte came, and the break was behind it.
        let total = Self.body.utf8.count
        var whole = Answer.whole()
        whole.whole = Self.body + " "
        whole.byteCount = total
        let nothing = Answer(status: 416, fields: [("Content-Range", "bytes */\(total)")], whole: "")
        let found = try await read([whole, nothing], waiting: 1)
        #expect(found.numbers == [1, 22, 333, 4444])
        #expect(found.error == nil)
        #expect(found.requests.last?.header("Range") == "bytes=\(total)-")
    }

    @Test func takesTheRestWhereTheCallAcceptsNothingButStatus200() async throws {
        let options = CallOptions(validation: .status(200))
        let found = try await read([.whole(upTo: 11), .rest(from: 10)], waiting: 1, options: options)
        #expect(found.error == nil)
        #expect(found.numbers == [1, 22, 333, 4444])
    }

    @Test func keepsToWhatIsDoneWithRecordsThatDoNotDecode() async throws {
        var whole = Answer.whole(upTo: 8)
        whole.whole = "1\n\"x\"\n3\n"
        whole.byteCount = 7
        var rest = Answer(status: 206, fields: [("Content-Range", "bytes 6-7/8")], whole: "3\n")
        let skipping = try await read(
            [whole, rest],
            waiting: 1,
            as: .skippingUndecodable(.jsonLines).resuming(policy)
        )
        #expect(skipping.numbers == [1, 3])
        #expect(skipping.error == nil)
        rest.fields.append(("ETag", "\"v1\""))
        let automatic = try await read(
            [whole, rest],
            waiting: 1,
            as: .skippingUndecodable(.automatic.resuming(policy))
        )
        #expect(automatic.numbers == [1, 3])
        #expect(automatic.error == nil)
    }

    @Test func isNotResumedWithoutBeingAsked() async throws {
        let found = try await read([.whole(upTo: 10)], waiting: 0, as: .jsonLines)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail.contains("resume") == false)
        #expect(found.requests.map { $0.header("Accept-Encoding") == "identity" } == [false])
    }

    private static let obstacles: [(fields: [(String, String)], String)] = [
        ([], "the response has no strong ETag or Last-Modified, so a changed body could not be told"),
        (
            [("ETag", "W/\"v1\"")],
            "the response has no strong ETag or Last-Modified, so a changed body could not be told"
        ),
        ([("ETag", "\"v1\""), ("Accept-Ranges", "none")], "the server sends no ranges"),
    ]

    @Test(arguments: obstacles.indices)
    func saysWhyItCannotBeResumed(_ row: Int) async throws {
        let (fields, reason) = Self.obstacles[row]
        let found = try await read([.whole(upTo: 10, fields)], waiting: 0)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail.hasSuffix("; the stream cannot be resumed: \(reason)") == true)
        #expect(found.requests.count == 1)
    }

    @Test func isResumedOnlyWhereItWasAGetWithoutARangeOfItsOwn() async throws {
        let post = try await read([.whole(upTo: 10)], waiting: 0, method: .post)
        #expect(post.error?.detail.hasSuffix("only a GET can ask for a range, and this was a POST") == true)
        let options = CallOptions(headers: ["Range": "bytes=0-"])
        let own = try await read([.whole(upTo: 10)], waiting: 0, options: options)
        #expect(own.error?.detail.hasSuffix("the request has a Range field of its own") == true)
        #expect(post.requests.count == 1 && own.requests.count == 1)
    }

    /// The first request is what would be sent again.
    @Test func isNotResumedWhereARedirectMadeAGetOfAPost() async throws {
        let redirect = Answer(status: 303, fields: [("Location", "/there")], whole: "")
        let found = try await read([redirect, .whole(upTo: 10)], waiting: 0, method: .post)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.detail.hasSuffix("only a GET can ask for a range, and this was a POST") == true)
        #expect(found.requests.map(\.method) == ["POST", "GET"])
    }

    @Test func isNotResumedWhereItCameCompressed() async throws {
        // Never decoded, as a transport of a user's own may hand it on.
        let chunks = Locked([Data("1\n".utf8)])
        let body = ResponseBody(
            pulling: { () async throws(ApiConnectorError) in
                guard let chunk = chunks.withLock({ $0.popLast() }) else {
                    throw ApiConnectorError(.connectionLost, "it broke")
                }
                return chunk
            }
        )
        let api = NetworkConnector(
            environment: Place(),
            provider: FixedProvider(headers: ["ETag": "\"v1\"", "Content-Encoding": "br"], body: body),
            router: Endpoint<ApiPath>.self
        )
        let error = await #expect(throws: ApiConnectorError.self) {
            for try await _ in api.stream(of: Int.self, at: Endpoint("/"), as: .jsonLines.resuming(policy)) {}
        }
        #expect(error?.kind == .connectionLost)
        #expect(
            error?.detail
                == "it broke; the stream cannot be resumed: the body came in the coding br, whose bytes are not "
                + "those of the records"
        )
    }

    private static let unfit: [(answer: Answer, ApiConnectorError.Kind, String)] = [
        (
            .whole(), .unacceptableStatus,
            "the server answered 200 OK and sent the whole, because it has changed or because the server sends no ranges"
        ),
        (
            .rest(from: 10, [("ETag", "\"v2\"")]), .malformedResponse,
            "the rest is of another version, \"v2\", and not of \"v1\""
        ),
        (
            .rest(from: 10, range: "bytes 9-18/19"), .malformedResponse,
            "the server answered 206 Partial Content with the Content-Range \"bytes 9-18/19\""
        ),
        (
            .rest(from: 10, range: "bytes 10-11/19"), .malformedResponse,
            "the server answered 206 Partial Content with the Content-Range \"bytes 10-11/19\""
        ),
        (
            .rest(from: 10, range: "lines 10-11/19"), .malformedResponse,
            "the server answered 206 Partial Content with the Content-Range \"lines 10-11/19\""
        ),
        (
            Answer(status: 206, whole: "333\n4444\n"), .malformedResponse,
            "the server answered 206 Partial Content without a Content-Range"
        ),
    ]

    @Test(arguments: unfit.indices)
    func failsAtAnyOtherBodyThanTheRest(_ row: Int) async throws {
        let (answer, kind, fault) = Self.unfit[row]
        let found = try await read([.whole(upTo: 10), answer], waiting: 1)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == kind)
        #expect(
            found.error?.detail == "the stream broke off at byte 10 of the body and cannot be resumed: \(fault)"
        )
        #expect(found.error?.request != nil)
        #expect(found.requests.count == 2)
    }

    @Test(arguments: [(416, [("Content-Range", "bytes */5")]), (503, []), (204, [])])
    func failsAtAnotherStatus(_ status: Int, _ fields: [(String, String)]) async throws {
        let found = try await read([.whole(upTo: 10), Answer(status: status, fields: fields, whole: "")], waiting: 1)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .unacceptableStatus)
        #expect(found.requests.count == 2)
        // Nor is it read where the call accepts any status.
        let options = CallOptions(validation: .unchecked)
        let unchecked = try await read(
            [.whole(upTo: 10), Answer(status: status, fields: fields, whole: status == 204 ? "" : "5\n")],
            waiting: 1,
            options: options
        )
        #expect(unchecked.numbers == [1, 22])
        #expect(unchecked.error?.kind == .unacceptableStatus)
    }

    @Test func givesUpAfterSoManyAttemptsThatBringNothing() async throws {
        let found = try await read(
            [.whole(upTo: 10)] + Array(repeating: .rest(from: 10, upTo: 2), count: 3),
            waiting: 3
        )
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.requests.count == 4)
    }
}

/// Answers every request with one body.
private struct FixedProvider: DataRequestType {
    let headers: HTTPHeaders
    let body: ResponseBody

    func response(for request: ApiRequest) async throws(ApiConnectorError) -> ApiResponse {
        ApiResponse(to: request, status: 200, headers: headers, body: body)
    }
}
