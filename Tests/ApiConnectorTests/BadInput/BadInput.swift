// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting

/// A misbehavior of a server, and the error of the caller.
struct BadInput: Sendable, CustomStringConvertible {
    let description: String

    /// The kind of the call's error.
    let kind: ApiConnectorError.Kind

    /// The start of the error's detail; the whole detail if it is the library's text.
    let detail: String

    /// Whether URLSession on Linux cannot be put to it; see the page "URLSession on Linux".
    var endsFoundation = false

    let serve: @Sendable (LoopbackConnection) throws -> Void

    /// A server that reads a request, says this and closes.
    init(
        _ description: String,
        _ kind: ApiConnectorError.Kind,
        _ detail: String = "",
        endsFoundation: Bool = false,
        saying parts: String...
    ) {
        self.init(description, kind, detail, endsFoundation: endsFoundation) { connection in
            for part in parts { try connection.send(part) }
        }
    }

    /// A server that reads a request, does this and closes.
    init(
        _ description: String,
        _ kind: ApiConnectorError.Kind,
        _ detail: String = "",
        endsFoundation: Bool = false,
        doing serve: @escaping @Sendable (LoopbackConnection) throws -> Void
    ) {
        self.description = description
        self.kind = kind
        self.detail = detail
        self.endsFoundation = endsFoundation
        self.serve = { connection in
            guard try connection.readRequest() != nil else { return }
            try serve(connection)
        }
    }

    private static func json(_ text: String, status: String = "200 OK", type: String = "application/json") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    /// Failures before there is a response.
    static let transport: [BadInput] = [
        BadInput("closed before the head", .connectionLost, saying: ""),
        BadInput("reset before the head", .connectionLost) { $0.reset() },
        BadInput("closed inside the head", .connectionLost, endsFoundation: true, saying: "HTTP/1.1 200 OK\r\nConte"),
        BadInput(
            "closed inside the body",
            .connectionLost,
            saying: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"id\""
        ),
        BadInput(
            "a body shorter than its length",
            .connectionLost,
            saying: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"
        ),
        BadInput(
            "a chunk's size that is no number",
            .malformedResponse,
            saying: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n1\r\n0\r\n\r\n"
        ),
        BadInput(
            "a chunk longer than its size",
            .malformedResponse,
            saying: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1234567\r\n0\r\n\r\n"
        ),
        BadInput(
            "chunks without the last",
            .connectionLost,
            saying: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n"
        ),
        BadInput("a status line of garbage", .malformedResponse, saying: "\u{1}\u{2}\u{3} garbage\r\n\r\n"),
        BadInput("another protocol's greeting", .malformedResponse, saying: "220 mail.example.com ESMTP\r\n"),
        BadInput("a head of 1 MB", .malformedResponse) { connection in
            try connection.send("HTTP/1.1 200 OK\r\n")
            for number in 0..<1000 {
                try connection.send("X-\(number): \(String(repeating: "a", count: 1000))\r\n")
            }
            try connection.send("Content-Length: 1\r\n\r\n1")
        },
        BadInput("one field of 1 MB", .malformedResponse) { connection in
            let value = String(repeating: "a", count: 1 << 20)
            try connection.send("HTTP/1.1 200 OK\r\nX: \(value)\r\nContent-Length: 1\r\n\r\n1")
        },
        BadInput(
            "a length that is no number",
            .malformedResponse,
            saying: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n1"
        ),
    ]

    /// Responses that differ from the expected ones.
    static let responses: [BadInput] =
        [
            BadInput(
                "invalid UTF-8 in JSON",
                .decodingFailed,
                "the body does not decode as Item: at the top level: The given data was not valid JSON (at line 1, column 9)"
            ) { connection in
                let body = Data("{\"id\":1,".utf8) + [0xFF, 0xFE] + Data("}".utf8)
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
                )
                try connection.send(body)
            },
            BadInput(
                "JSON that ends early",
                .decodingFailed,
                "the body does not decode as Item: at the top level: The given data was not valid JSON "
                    + "(at the end, line 1, column 8)",
                saying: json("{\"id\":1")
            ),
            BadInput(
                "a page where JSON is wanted",
                .unacceptableMediaType,
                "the server answered 200 OK with a body of type text/html, but application/json was requested",
                saying: json("<html></html>", type: "text/html")
            ),
            BadInput(
                "no body where a value is wanted",
                .decodingFailed,
                "the server answered 200 OK without a body, but the call expects a value of type Item; expect Item? if "
                    + "the body can be empty, or call send(at:) if no value is needed",
                saying: json("")
            ),
            BadInput(
                "a redirect without a location",
                .redirectRefused,
                "the server answered 302 Found without a Location",
                saying: json("", status: "302 Found")
            ),
            BadInput(
                "a redirect to itself",
                .tooManyRedirects,
                "the redirects form a loop: they led back to ",
                saying: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
            ),
            BadInput(
                "a body over the limit",
                .bodyTooLarge,
                "the body is longer than the limit of 1000 bytes",
                saying: json("\"\(String(repeating: "a", count: 2000))\"")
            ),
            BadInput(
                "a body over the limit that never ends",
                .bodyTooLarge,
                "the body is longer than the limit of 1000 bytes"
            ) {
                try $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                while true { try $0.send(String(repeating: "a", count: 16_384)) }
            },
        ] + challenges

    private static let challenges: [BadInput] = ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"n\""].map {
        let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \($0)\r\nContent-Length: 7\r\n\r\n"
        return BadInput(
            "401 \($0.prefix { $0 != " " })",
            .unacceptableStatus,
            "the server answered 401 Unauthorized, and only 200 to 299 are accepted",
            saying: head + "sign in"
        )
    }
}
