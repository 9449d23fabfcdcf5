// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// NDJSON that breaks off and cannot be resumed, and what the error says of it.
struct UnresumableLineTests {
    private let host = LineHost()
    private static let day = "Mon, 01 Jun 2026 10:00:00 GMT"
    private static let later = "Mon, 01 Jun 2026 10:00:01 GMT"

    @Test func isNotResumedUnlessEnabled() async throws {
        let found = try await host.read([.whole(upTo: 10)], waiting: 0, as: .jsonLines)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail.contains("resume") == false)
        #expect(found.requests.map { $0.header("Accept-Encoding") == "identity" } == [false])
    }

    private static let obstacles: [(fields: [(String, String)], String)] = [
        ([], "the response has no strong ETag or Last-Modified, so a changed body could not be detected"),
        (
            [("ETag", "W/\"v1\"")],
            "the response has no strong ETag or Last-Modified, so a changed body could not be detected"
        ),
        ([("ETag", "\"v1\""), ("Accept-Ranges", "none")], "the server does not support ranges"),
    ]

    @Test(arguments: obstacles.indices)
    func saysWhyItCannotBeResumed(_ row: Int) async throws {
        let (fields, reason) = Self.obstacles[row]
        let found = try await host.read([.whole(upTo: 10, fields)], waiting: 0)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .connectionLost)
        #expect(found.error?.detail.hasSuffix("; the stream cannot be resumed: \(reason)") == true)
        #expect(found.error?.retryStop == .notResumable)
        #expect(found.requests.count == 1)
    }

    @Test func onlyAGetWithoutItsOwnRangeIsResumed() async throws {
        let post = try await host.read([.whole(upTo: 10)], waiting: 0, method: .post)
        #expect(post.error?.detail.hasSuffix("only a GET can request a range, and this was a POST") == true)
        let options = CallOptions(headers: ["Range": "bytes=0-"])
        let own = try await host.read([.whole(upTo: 10)], waiting: 0, options: options)
        #expect(own.error?.detail.hasSuffix("the request has its own Range field") == true)
        #expect(post.requests.count == 1 && own.requests.count == 1)
    }

    /// The first request is what would be sent again.
    @Test func isNotResumedIfARedirectChangedAPostToAGet() async throws {
        let redirect = LineHost.Answer(status: 303, fields: [("Location", "/there")], whole: "")
        let found = try await host.read([redirect, .whole(upTo: 10)], waiting: 0, method: .post)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.detail.hasSuffix("only a GET can request a range, and this was a POST") == true)
        #expect(found.requests.map(\.method) == ["POST", "GET"])
    }

    @Test func isNotResumedIfItIsCompressed() async throws {
        // The body is never decoded, as a user's transport may deliver it.
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
            for try await _ in api.stream(of: Int.self, at: Endpoint("/"), as: .jsonLines.resuming(host.policy)) {}
        }
        #expect(error?.kind == .connectionLost)
        #expect(
            error?.detail
                == "it broke; the stream cannot be resumed: the body came in the coding br, so the byte offsets of its "
                + "records are unknown"
        )
    }

    private static let unfit: [(answer: LineHost.Answer, ApiConnectorError.Kind, String)] = [
        (
            .whole(), .unacceptableStatus,
            "the server answered 200 OK and sent the whole resource, because it has changed or because the server does "
                + "not support ranges"
        ),
        (
            .rest(from: 10, [("ETag", "\"v2\"")]), .malformedResponse,
            "the rest is of another version, \"v2\", not of \"v1\""
        ),
        (
            .rest(from: 10, [("ETag", "v1")]), .malformedResponse,
            "the rest is of another version, v1, not of \"v1\""
        ),
        (
            .rest(from: 10, [("ETag", "W/\"v1\"")]), .malformedResponse,
            "the rest is of another version, W/\"v1\", not of \"v1\""
        ),
        (
            .rest(from: 10, [("Last-Modified", day)]), .malformedResponse,
            "the rest has no ETag, so it may not be of the version \"v1\""
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
            LineHost.Answer(status: 206, whole: "333\n4444\n"), .malformedResponse,
            "the server answered 206 Partial Content without a Content-Range"
        ),
    ]

    @Test(arguments: unfit.indices)
    func failsIfTheResumedBodyIsNotTheRest(_ row: Int) async throws {
        let (answer, kind, fault) = Self.unfit[row]
        let found = try await host.read([.whole(upTo: 10), answer], waiting: 1)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == kind)
        #expect(
            found.error?.detail == "the stream broke off at byte 10 of the body and cannot be resumed: \(fault)"
        )
        #expect(found.error?.request != nil)
        #expect(found.requests.count == 2)
    }

    @Test(
        arguments: [
            [("Last-Modified", later)], [("ETag", "\"v1\""), ("Last-Modified", day)], [("ETag", "v1")],
        ] as [[(String, String)]]
    )
    func failsIfTheRestNamesAnotherVersionThanTheDate(_ fields: [(String, String)]) async throws {
        let whole = LineHost.Answer.whole(upTo: 10, [("Last-Modified", Self.day), ("Date", Self.later)])
        let found = try await host.read([whole, .rest(from: 10, fields)], waiting: 1)
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .malformedResponse)
        #expect(found.error?.detail.contains("the rest is of another version, ") == true)
        #expect(found.requests.count == 2)
    }

    /// The first response announced more than 10 bytes.
    @Test(
        arguments: [
            (416, [("Content-Range", "bytes */5")]), (416, [("Content-Range", "bytes */10")]), (404, []), (204, []),
        ] as [(Int, [(String, String)])]
    )
    func failsAtAnotherStatus(_ status: Int, _ fields: [(String, String)]) async throws {
        let found = try await host.read(
            [.whole(upTo: 10), LineHost.Answer(status: status, fields: fields, whole: "")],
            waiting: 1
        )
        #expect(found.numbers == [1, 22])
        #expect(found.error?.kind == .unacceptableStatus)
        #expect(found.requests.count == 2)
        // Nor is it read where the call accepts any status.
        let options = CallOptions(validation: .unchecked)
        let unchecked = try await host.read(
            [.whole(upTo: 10), LineHost.Answer(status: status, fields: fields, whole: status == 204 ? "" : "5\n")],
            waiting: 1,
            options: options
        )
        #expect(unchecked.numbers == [1, 22])
        #expect(unchecked.error?.kind == .unacceptableStatus)
    }

    /// The length of the first body is unknown, so the version is all that tells.
    @Test func isNotCompleteIfAnotherVersionEndsAtTheBreak() async throws {
        var whole = LineHost.Answer.whole(upTo: 10)
        whole.isChunked = true
        for tag in ["\"v2\"", "v1"] {
            let fields = [("ETag", tag), ("Content-Range", "bytes */10")]
            let end = LineHost.Answer(status: 416, fields: fields, whole: "")
            let found = try await host.read([whole, end], waiting: 1)
            #expect(found.numbers == [1, 22])
            #expect(found.error?.kind == .unacceptableStatus)
            #expect(found.requests.count == 2)
        }
    }

    @Test func givesUpAfterTooManyAttemptsWithoutProgress() async throws {
        let found = try await host.read(
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
