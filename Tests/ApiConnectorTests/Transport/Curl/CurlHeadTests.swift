// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct CurlHeadTests {
    private func deliver(_ lines: [String], mayExpectContinue: Bool = false) -> ([CurlHeadReader.Step], CurlHeadReader)
    {
        var reader = CurlHeadReader()
        reader.reset(mayExpectContinue: mayExpectContinue)
        let steps = lines.map { line in Array((line + "\r\n").utf8).withUnsafeBytes { reader.append($0) } }
        return (steps, reader)
    }

    @Test func keepsRepeatedFieldsSeparateAndInOrder() {
        let (steps, reader) = deliver(["HTTP/1.1 200 OK", "Set-Cookie: a=1, x", "B:2", "set-cookie: c=3 ", ""])
        #expect(steps.last == .complete(isProvisional: false))
        let head = reader.head
        #expect(head.status == 200)
        #expect(head.headers.map { "\($0.name)=\($0.value)" } == ["Set-Cookie=a=1, x", "B=2", "set-cookie=c=3"])
    }

    @Test(arguments: [
        ("X: caf\u{E9}", "caf\u{E9}"), ("X: \u{FF}\u{85}\u{9F}", "\u{FF}\u{FFFD}\u{FFFD}"),
        ("Content-Location: /\u{E9}", "/%E9"), ("Link: <\u{E9}>; title=\"a < \u{E9}\"", "<%E9>; title=\"a < \u{E9}\""),
        ("Location: /caf\u{E9}/a%20b?q=\u{FF}", "/caf%E9/a%20b?q=%FF"),
        ("Link: </caf\u{E9}>; title=\"caf\u{E9}\", <\u{E9}>", "</caf%E9>; title=\"caf\u{E9}\", <%E9>"),
    ])
    func aValueThatIsNotUTF8IsLatin1AndKeepsItsBytesInURLs(_ line: String, _ expected: String) {
        var reader = CurlHeadReader()
        for line in ["HTTP/1.1 200 OK", line, ""] {
            let bytes = "\(line)\r\n".unicodeScalars.map { UInt8($0.value) }
            _ = bytes.withUnsafeBytes { reader.append($0) }
        }
        #expect(reader.head.headers.map(\.value) == [expected])
    }

    @Test func aValueInUTF8IsReadAsSuch() {
        let (_, reader) = deliver(["HTTP/1.1 200 OK", "Location: /café", ""])
        #expect(reader.head.headers[.location] == "/café")
    }

    @Test(arguments: ["HTTP/1.1 204", "HTTP/1.1 204 ", "HTTP/2 204 ", "HTTP/1.0 204 No Content", "HTTP/1.1 204\tNo"])
    func readsAStatusLineWithOrWithoutReason(_ line: String) {
        let (steps, reader) = deliver([line, ""])
        #expect(steps == [.proceed, .complete(isProvisional: false)])
        #expect(reader.head.status == 204)
    }

    /// Some versions of libcurl accept two spaces, no space after the status, or a status below 100.
    @Test(arguments: [
        "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 abc", "ICY 200 OK", "HTTP/1.1", "HTTP/1.1  200 OK", "HTTP/1.1 200OK",
        "HTTP/1.1 099 Odd", "HTTP/1.1 000",
    ])
    func refusesAnInvalidStatusLine(_ line: String) {
        let (steps, reader) = deliver([line])
        guard steps.count == 1, case .refused = steps[0] else { return #expect(Bool(false), "\(steps)") }
        #expect(reader.head == TransferState.Head())
    }

    @Test func skipsInterimHeads() {
        let lines = [
            "HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", "",
        ]
        let (steps, reader) = deliver(lines)
        #expect(steps.filter { $0 != .proceed } == [.complete(isProvisional: false)])
        let head = reader.head
        #expect(head.status == 200)
        #expect(head.headers.map(\.name.rawValue) == ["A"])
    }

    @Test func ignoresTrailers() {
        let (steps, reader) = deliver(["HTTP/1.1 200 OK", "A: 1", "", "X-Trailer: 1", "B: 2", ""])
        #expect(steps.filter { $0 != .proceed } == [.complete(isProvisional: false)])
        #expect(reader.head == TransferState.Head(status: 200, headers: ["A": "1"], endsWithConnection: true))
    }

    /// libcurl before 7.88 accepts them, and before 8.18 a folded one.
    @Test(arguments: ["HTTP/1.1 500 No", "X", "X: \0", ": x", " folded", " x: y"])
    func refusesTrailersThatAreNoFields(_ trailer: String) {
        let steps = deliver(["HTTP/1.1 200 OK", "A: 1", "", trailer, ""]).0.filter { $0 != .proceed }
        #expect(steps.count == 2)
        guard case .refused = steps.last else { return #expect(Bool(false), "\(steps)") }
    }

    @Test func refusesMoreFieldsThanLibcurlAccepts() {
        let fields = Array(repeating: "A: 1", count: CurlHeadReader.maximumFieldCount)
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + [""]).0.last == .complete(isProvisional: false))
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + ["A: 1"]).0.last == .refused(CurlHeadReader.tooManyFields))
        // Trailers count, too.
        #expect(deliver(["HTTP/1.1 200 OK"] + fields + ["", "A: 1"]).0.last == .refused(CurlHeadReader.tooManyFields))
    }

    @Test func waitsForTheResponseAfterARefusedExpectation() {
        let lines = ["HTTP/1.1 417 Expectation Failed", "A: 1", "", "HTTP/1.1 200 OK", "B: 2", ""]
        let (steps, reader) = deliver(lines, mayExpectContinue: true)
        #expect(steps[2] == .complete(isProvisional: true))
        #expect(steps[5] == .complete(isProvisional: false))
        #expect(reader.head.status == 200)
    }

    @Test func refusesASwitchOfProtocols() {
        let (steps, _) = deliver(["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", ""])
        #expect(steps.last == .refused("the server switched to a protocol that was not requested"))
    }

    @Test func refusesAHeadWithoutEnd() {
        let lines = ["HTTP/1.1 200 OK"] + Array(repeating: "X: " + String(repeating: "a", count: 1000), count: 300)
        let (steps, reader) = deliver(lines)
        #expect(steps.contains(.refused("the head of the response is longer than 262144 bytes")))
        let byteCount = reader.head.headers.reduce(0) { $0 + $1.value.utf8.count }
        #expect(byteCount <= CurlHeadReader.maximumByteCount)
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
        let count = CurlHeadReader.maximumByteCount / part.reduce(0) { $0 + $1.utf8.count + 2 } + 1
        let (steps, _) = deliver(start + Array(repeating: part, count: count).flatMap(\.self))
        #expect(steps.last == .refused("\(subject) longer than 262144 bytes"))
    }

    @Test func refusesTooManyInterimHeads() {
        let count = CurlHeadReader.maximumInterimCount
        let interim = Array(repeating: ["HTTP/1.1 103 Early Hints", ""], count: count).flatMap(\.self)
        #expect(deliver(interim + ["HTTP/1.1 200 OK", ""]).0.last == .complete(isProvisional: false))
        let (steps, _) = deliver(interim + ["HTTP/1.1 103 Early Hints", ""])
        #expect(steps.last == .refused("the server sent more than 100 interim responses"))
    }

    @Test func showsTheFieldThatMakesTheEndAmbiguous() {
        let (steps, _) = deliver(["HTTP/1.1 200 OK", "Content-Length: 10", "Content-Length: 5"])
        let reason = #"the response has a Content-Length of 10 and the field "Content-Length: 5", so the length of "#
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

    @Test func unfoldsFoldedLines() {
        let (_, reader) = deliver(["HTTP/1.1 200 OK", "A: 1", "  and 2", "B: 3", ""])
        let head = reader.head
        #expect(head.headers.map(\.value) == ["1 and 2", "3"])
    }

    @Test(
        arguments: [
            ("Content-Encoding: gzip", .gzip), ("CONTENT-encoding:br", .brotli), ("Content-Length: 3", nil),
            ("Content-Encoding: identity", nil), ("Content-Encoding: identity, zstd", .zstandard),
        ] as [(String, ContentCoding?)]
    ) func noticesACodedBody(_ line: String, _ coding: ContentCoding?) {
        let (_, reader) = deliver(["HTTP/1.1 200 OK", line, ""])
        #expect(reader.head.coding == coding)
        #expect(reader.isCoded == (coding != nil))
    }

    @Test(arguments: [
        (["HTTP/1.1 200 OK", "A: b"], true), (["HTTP/1.0 500 No"], true), (["HTTP/2 200 "], false),
        (["HTTP/1.1 204 No"], false), (["HTTP/1.1 304 No"], false),
        (["HTTP/1.1 200 OK", "TRANSFER-Encoding:  Chunked"], false),
        (["HTTP/1.1 200 OK", "Transfer-Encoding: identity"], true), ([], false),
        (["HTTP/1.1 103 Early Hints", "", "HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], false),
    ])
    func knowsWhichHeadsLeaveTheEndToTheConnection(_ lines: [String], _ isOpen: Bool) {
        let (_, reader) = deliver(lines + (lines.isEmpty ? [] : [""]))
        #expect(reader.endsWithConnection == isOpen)
        #expect(reader.head.endsWithConnection == isOpen)
    }

    @Test func deliversNoFieldOfAnInterimHead() {
        let (_, reader) = deliver(["HTTP/1.1 103 Early Hints", "Link: x", " y", "", "HTTP/1.1 200 OK", ""])
        #expect(reader.head == TransferState.Head(status: 200, endsWithConnection: true))
    }

    @Test func aHeadIsTakenOnce() {
        var (_, reader) = deliver(["HTTP/1.1 200 OK", "A: 1", ""])
        #expect(reader.take().headers == ["A": "1"])
        #expect(reader.take() == TransferState.Head())
        #expect(reader.endsWithConnection)
    }

    /// libcurl delivers whole lines; no bytes cause a trap.
    @Test func survivesEveryCutOfAHead() {
        let text = Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n B\r\nX:\r\n:y\r\n\r\n".utf8)
        for cut in 0...text.count {
            var reader = CurlHeadReader()
            for line in text[..<cut].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                _ = Array(line).withUnsafeBytes { reader.append($0) }
            }
            #expect(reader.head.headers.count <= 2)
        }
        #expect(CurlHeadReader().head == TransferState.Head())
    }
}
