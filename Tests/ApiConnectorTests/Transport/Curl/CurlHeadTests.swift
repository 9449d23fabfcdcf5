// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct CurlHeadTests {
    private func deliver(_ lines: [String], mayExpectContinue: Bool = false) -> ([CurlHeadBuffer.Step], CurlHeadBuffer)
    {
        var buffer = CurlHeadBuffer()
        buffer.reset(mayExpectContinue: mayExpectContinue)
        let steps = lines.map { line in Array((line + "\r\n").utf8).withUnsafeBytes { buffer.append($0) } }
        return (steps, buffer)
    }

    @Test func keepsRepeatedFieldsSeparateAndInOrder() throws {
        let (steps, buffer) = deliver(["HTTP/1.1 200 OK", "Set-Cookie: a=1, x", "B:2", "set-cookie: c=3 ", ""])
        #expect(steps.last == .complete(isProvisional: false))
        let head = try #require(CurlResponseHead(buffer.bytes))
        #expect(head.status == 200)
        #expect(head.headers.map { "\($0.name)=\($0.value)" } == ["Set-Cookie=a=1, x", "B=2", "set-cookie=c=3"])
    }

    @Test(arguments: [
        ("X: caf\u{E9}", "caf\u{E9}"),
        ("X: \u{FF}\u{85}\u{9F}", "\u{FF}\u{FFFD}\u{FFFD}"),
        ("Content-Location: /\u{E9}", "/%E9"),
        ("Link: <\u{E9}>; title=\"a < \u{E9}\"", "<%E9>; title=\"a < \u{E9}\""),
        ("Location: /caf\u{E9}/a%20b?q=\u{FF}", "/caf%E9/a%20b?q=%FF"),
        ("Link: </caf\u{E9}>; title=\"caf\u{E9}\", <\u{E9}>", "</caf%E9>; title=\"caf\u{E9}\", <%E9>"),
    ])
    func aValueThatIsNotUTF8IsLatin1AndKeepsItsBytesInURLs(_ line: String, _ expected: String) throws {
        let bytes = "HTTP/1.1 200 OK\r\n\(line)\r\n\r\n".unicodeScalars.map { UInt8($0.value) }
        #expect(try #require(CurlResponseHead(bytes)).headers.map(\.value) == [expected])
    }

    @Test func aValueInUTF8IsReadAsSuch() throws {
        let head = try #require(CurlResponseHead(Array("HTTP/1.1 200 OK\r\nLocation: /café\r\n\r\n".utf8)))
        #expect(head.headers[.location] == "/café")
    }

    @Test(arguments: ["HTTP/1.1 204", "HTTP/1.1 204 ", "HTTP/2 204 ", "HTTP/1.0 204 No Content", "HTTP/1.1 204\tNo"])
    func readsAStatusLineWithOrWithoutReason(_ line: String) throws {
        let (steps, buffer) = deliver([line, ""])
        #expect(steps == [.proceed, .complete(isProvisional: false)])
        #expect(try #require(CurlResponseHead(buffer.bytes)).status == 204)
    }

    /// Some versions of libcurl accept two spaces, no space after the status, or a status below 100.
    @Test(arguments: [
        "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 abc", "ICY 200 OK", "HTTP/1.1", "HTTP/1.1  200 OK", "HTTP/1.1 200OK",
        "HTTP/1.1 099 Odd", "HTTP/1.1 000",
    ])
    func refusesAnInvalidStatusLine(_ line: String) {
        #expect(CurlResponseHead(Array((line + "\r\n").utf8)) == nil)
    }

    @Test func skipsInterimHeads() throws {
        let lines = [
            "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", "",
        ]
        let (steps, buffer) = deliver(lines)
        #expect(steps.filter { $0 != .proceed } == [.complete(isProvisional: false)])
        let head = try #require(CurlResponseHead(buffer.bytes))
        #expect(head.status == 200)
        #expect(head.headers.map(\.name.rawValue) == ["A"])
    }

    @Test func ignoresTrailers() {
        let (steps, buffer) = deliver(["HTTP/1.1 200 OK", "A: 1", "", "X-Trailer: 1", "B: 2", ""])
        #expect(steps.filter { $0 != .proceed } == [.complete(isProvisional: false)])
        #expect(String(decoding: buffer.bytes, as: UTF8.self) == "HTTP/1.1 200 OK\r\nA: 1\r\n")
    }

    /// libcurl before 7.88 accepts them, and before 8.18 a folded one.
    @Test(arguments: ["HTTP/1.1 500 No", "X", "X: \0", ": x", " folded", " x: y"])
    func refusesTrailersThatAreNoFields(_ trailer: String) {
        let steps = deliver(["HTTP/1.1 200 OK", "A: 1", "", trailer, ""]).0.filter { $0 != .proceed }
        #expect(steps.count == 2)
        guard case .refused = steps.last else { return #expect(Bool(false), "\(steps)") }
    }

    @Test func refusesMoreFieldsThanLibcurlAccepts() {
        let fields = Array(repeating: "A: 1", count: CurlHeadBuffer.maximumFieldCount)
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + [""]).0.last == .complete(isProvisional: false))
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + ["A: 1"]).0.last == .refused(CurlHeadBuffer.tooManyFields))
        // Trailers count, too.
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + ["", "A: 1"]).0.last == .refused(CurlHeadBuffer.tooManyFields))
    }

    @Test func waitsForTheResponseAfterARefusedExpectation() throws {
        let lines = ["HTTP/1.1 417 Expectation Failed", "A: 1", "", "HTTP/1.1 200 OK", "B: 2", ""]
        let (steps, buffer) = deliver(lines, mayExpectContinue: true)
        #expect(steps[2] == .complete(isProvisional: true))
        #expect(steps[5] == .complete(isProvisional: false))
        #expect(try #require(CurlResponseHead(buffer.bytes)).status == 200)
    }

    @Test func refusesASwitchOfProtocols() {
        let (steps, _) = deliver(["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", ""])
        #expect(steps.last == .refused("the server switched to a protocol that was not requested"))
    }

    @Test func refusesAHeadWithoutEnd() {
        let lines = ["HTTP/1.1 200 OK"] + Array(repeating: "X: " + String(repeating: "a", count: 1000), count: 300)
        let (steps, buffer) = deliver(lines)
        #expect(steps.contains(.refused("the head of the response is longer than 262144 bytes")))
        #expect(buffer.bytes.count <= CurlHeadBuffer.maximumByteCount)
    }

    /// libcurl keeps each of these lines for the transfer's life.
    @Test(arguments: [
        (["HTTP/1.1 200 OK", ""], ["X: y"], "the head of the response and its trailers are"),
        (
            [], ["HTTP/1.1 103 Early Hints", "X: " + String(repeating: "y", count: 3000), ""],
            "the head of the response is"
        ),
    ])
    func countsTrailersAndInterimHeads(_ start: [String], _ part: [String], _ subject: String) {
        let count = CurlHeadBuffer.maximumByteCount / part.reduce(0) { $0 + $1.utf8.count + 2 } + 1
        let (steps, _) = deliver(start + Array(repeating: part, count: count).flatMap(\.self))
        #expect(steps.last == .refused("\(subject) longer than 262144 bytes"))
    }

    @Test func refusesTooManyInterimHeads() {
        let count = CurlHeadBuffer.maximumInterimCount
        let interim = Array(repeating: ["HTTP/1.1 103 Early Hints", ""], count: count).flatMap(\.self)
        #expect(deliver(interim + ["HTTP/1.1 200 OK", ""]).0.last == .complete(isProvisional: false))
        let (steps, _) = deliver(interim + ["HTTP/1.1 103 Early Hints", ""])
        #expect(steps.last == .refused("the server sent more than 100 interim responses"))
    }

    @Test func showsTheFieldThatMakesTheEndAmbiguous() {
        let (steps, _) = deliver(["HTTP/1.1 200 OK", "Content-Length: 10", "Content-Length: 5"])
        let reason =
            #"the response has a Content-Length of 10 and the field "Content-Length: 5", so the length of "#
        #expect(steps.last == .refused(reason + "its body is ambiguous"))
    }

    @Test(arguments: [
        (["Transfer-Encoding: chunked, chunked"], "chunked"), (["Transfer-Encoding: chunked, identity"], "identity"),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "chunked"),
    ])
    func refusesACodingAfterChunked(_ lines: [String], _ name: String) {
        let (steps, _) = deliver(["HTTP/1.1 200 OK"] + lines)
        #expect(steps.last == .refused("the response names the transfer coding \(name) after chunked"))
    }

    /// libcurl 8.4 to 8.12 takes the chunks for the body.
    @Test(arguments: [
        ["Transfer-Encoding: identity, chunked"], ["Transfer-Encoding: Identity", "Transfer-Encoding: Chunked"],
    ])
    func refusesChunkedAfterIdentity(_ lines: [String]) {
        let (steps, _) = deliver(["HTTP/1.1 200 OK"] + lines)
        #expect(steps.last == .refused("the response names the transfer coding chunked after identity"))
    }

    /// A value may be a secret.
    @Test(arguments: [
        ("Set-Cookie : session=zqk", "the response has the line \"Set-Cookie : …\", which is not a header field"),
        ("Set-Cookie: session=zqk\u{7f}", "the field line \"Set-Cookie: …\" of the response holds a control character"),
        ("zqk", "the response has the line of 3 bytes, which is not a header field"),
    ])
    func showsNoValueOfABadField(_ line: String, _ reason: String) {
        #expect(deliver(["HTTP/1.1 200 OK", line]).0.last == .refused(reason))
    }

    @Test func showsNoSecretInPlaceOfAStatusLine() {
        let (steps, _) = deliver(["Set-Cookie: session=zqk"])
        let reason = #"the response starts with "Set-Cookie: REDACTED\r\n", and not with a status line"#
        #expect(steps == [.refused(reason)])
    }

    @Test(arguments: [(["Content-Length: 5"], false), (["Content-Length: 5", "Transfer-Encoding: chunked"], true)])
    func detectsAnAmbiguousEnd(_ lines: [String], _ isDoubtful: Bool) {
        #expect(deliver(["HTTP/1.1 200 OK"] + lines + [""]).1.hasDoubtfulEnd == isDoubtful)
    }

    @Test func refusesAHeadThatDoesNotStartWithAStatusLine() {
        let (steps, _) = deliver(["http/1.1 500 No"])
        let reason = #"the response starts with "http/1.1 500 No\r\n", and not with a status line"#
        #expect(steps == [.refused(reason)])
    }

    @Test func unfoldsFoldedLines() throws {
        let (_, buffer) = deliver(["HTTP/1.1 200 OK", "A: 1", "  and 2", "B: 3", ""])
        let head = try #require(CurlResponseHead(buffer.bytes))
        #expect(head.headers.map(\.value) == ["1 and 2", "3"])
    }

    @Test(arguments: [("Content-Encoding: gzip", true), ("CONTENT-encoding:br", true), ("Content-Length: 3", false)])
    func noticesAnEncodedBody(_ line: String, _ isEncoded: Bool) {
        #expect(deliver(["HTTP/1.1 200 OK", line, ""]).1.isEncoded == isEncoded)
    }

    /// libcurl delivers whole lines; no bytes cause a trap.
    @Test func survivesEveryCutOfAHead() {
        let text = Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n B\r\nX:\r\n:y\r\n\r\n".utf8)
        for cut in 0...text.count { _ = CurlResponseHead(Array(text[..<cut])) }
        #expect(CurlResponseHead([]) == nil)
    }
}
