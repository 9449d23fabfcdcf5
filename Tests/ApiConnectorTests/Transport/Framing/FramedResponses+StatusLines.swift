// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension FramedResponse {
    /// The first line (RFC 9112, section 4).
    ///
    /// A missing reason changes nothing. Two spaces before the status, no space after it, a version that is not HTTP/1, a
    /// status that does not have three digits, and a control character do.
    static let statusLines: [FramedResponse] = [
        FramedResponse("no reason", .status("HTTP/1.1 200"), .hello, foundation: .malformed),
        FramedResponse("no reason, but the space before it", .status("HTTP/1.1 200 "), .hello),
        FramedResponse("HTTP/1.0", .status("HTTP/1.0 200 OK"), .hello),
        FramedResponse("two spaces before the status", .status("HTTP/1.1  200 OK"), .malformed),
        FramedResponse("a reason in Latin-1", .status("HTTP/1.1 200 Tr\u{e8}s bien"), .hello, foundation: .malformed),
        FramedResponse("a reason in UTF-8", .status("HTTP/1.1 200 Tr\u{c3}\u{a8}s bien"), .hello),
        FramedResponse("a reason of 10 000 bytes", .status("HTTP/1.1 200 \(many("a", 10_000))"), .hello),
        FramedResponse("a reason like a field", .status("HTTP/1.1 200 Content-Length: 50"), .hello),
        FramedResponse("status 299", .status("HTTP/1.1 299 Odd"), .status(299)),
        FramedResponse("status 599", .status("HTTP/1.1 599 Odd"), .status(599)),
        FramedResponse("status 600", .status("HTTP/1.1 600 Odd"), .status(600)),
        FramedResponse("status 999", .status("HTTP/1.1 999 Odd"), .status(999)),
        FramedResponse("status 099", .status("HTTP/1.1 099 Odd"), .malformed),
        FramedResponse("status 000", .status("HTTP/1.1 000 Odd"), .malformed),
        FramedResponse("status 99", .status("HTTP/1.1 99 Odd"), .malformed),
        FramedResponse("status 20", .status("HTTP/1.1 20 OK"), .malformed),
        FramedResponse("status 2000", .status("HTTP/1.1 2000 OK"), .malformed),
        FramedResponse("status -200", .status("HTTP/1.1 -200 OK"), .malformed),
        FramedResponse("status +200", .status("HTTP/1.1 +200 OK"), .malformed),
        FramedResponse("status 2O0 with a letter", .status("HTTP/1.1 2O0 OK"), .malformed),
        FramedResponse("status 2 00 with a space", .status("HTTP/1.1 2 00 OK"), .malformed),
        FramedResponse("no space after the status", .status("HTTP/1.1 200OK"), .malformed),
        FramedResponse("a tab before the status", .status("HTTP/1.1\t200 OK"), .malformed),
        FramedResponse("a tab after the status", .status("HTTP/1.1 200\tOK"), .hello, foundation: .malformed),
        FramedResponse("no space before the status", .status("HTTP/1.1200 OK"), .malformed),
        FramedResponse("no status", .status("HTTP/1.1 OK"), .malformed),
        FramedResponse("only the version", .status("HTTP/1.1"), .malformed),
        FramedResponse("HTTP/1.2", .status("HTTP/1.2 200 OK"), .malformed),
        FramedResponse("HTTP/1.10", .status("HTTP/1.10 200 OK"), .malformed),
        FramedResponse("HTTP/11.1", .status("HTTP/11.1 200 OK"), .malformed),
        FramedResponse("HTTP/1.x", .status("HTTP/1.x 200 OK"), .malformed),
        FramedResponse("HTTP/1", .status("HTTP/1 200 OK"), .malformed),
        FramedResponse("HTTP/0.9 in a status line", .status("HTTP/0.9 200 OK"), .malformed),
        FramedResponse("HTTP/2.0", .status("HTTP/2.0 200 OK"), .malformed, foundation: .hello),
        FramedResponse("HTTP/2", .status("HTTP/2 200 OK"), .malformed, foundation: .hello),
        FramedResponse("HTTP/3", .status("HTTP/3 200 OK"), .malformed),
        FramedResponse("HTTP/4.0", .status("HTTP/4.0 200 OK"), .malformed),
        FramedResponse("no version", .status("HTTP 200 OK"), .malformed),
        FramedResponse("an empty version", .status("HTTP/ 200 OK"), .malformed),
        FramedResponse("a comma in the version", .status("HTTP/1,1 200 OK"), .malformed),
        FramedResponse("another protocol", .status("ICY 200 OK"), .malformed),
        FramedResponse("RTSP", .status("RTSP/1.0 200 OK"), .malformed),
        FramedResponse("a space before the version", .status(" HTTP/1.1 200 OK"), .malformed),
        FramedResponse("an empty line before", .status("\r\nHTTP/1.1 200 OK"), .malformed),
        FramedResponse("a line feed before", .status("\nHTTP/1.1 200 OK"), .malformed),
        FramedResponse("a byte order mark before", .status("\u{ef}\u{bb}\u{bf}HTTP/1.1 200 OK"), .malformed),
        FramedResponse("NUL in the reason", .status("HTTP/1.1 200 O\0K"), .malformed),
        FramedResponse("an escape in the reason", .status("HTTP/1.1 200 \u{1b}[2J"), .malformed, foundation: .hello),
        FramedResponse("a bare CR in the reason", .status("HTTP/1.1 200 O\rK"), .malformed, foundation: .hello),
        FramedResponse(
            "a bare CR and a field in the reason",
            .status("HTTP/1.1 200 OK\rContent-Length: 50"),
            .malformed,
            foundation: .hello
        ),
        FramedResponse("a reason of 200 000 bytes", .status("HTTP/1.1 200 \(many("a", 200_000))"), .malformed),
        FramedResponse(
            "two status lines",
            .status("HTTP/1.1 200 OK\r\nHTTP/1.1 500 No"),
            .malformed
        ),
    ]
}
