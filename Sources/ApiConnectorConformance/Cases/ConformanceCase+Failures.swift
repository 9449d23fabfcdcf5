// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestServers

extension ConformanceCase {
    private static let make = CaseMaker(topic: .failures)

    /// Cases about failures and their error kinds.
    static let failures: [ConformanceCase] = [
        make.wire("fails with cannotConnect when no server listens") { probe in
            let port = try RefusingPort()
            var request = probe.request()
            request.url = URL(string: "http://\(LoopbackServer.host):\(port.number)/") ?? request.url
            try await probe.demandFailure(of: .cannotConnect, sending: request)
            withExtendedLifetime(port) {}
        },
        make.wire(
            "fails with secureConnectionFailed when the server does not speak TLS",
            .onConnection(.wire("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
        ) { probe in
            var request = probe.request()
            request.url = URL(string: "https://\(LoopbackServer.host):\(try probe.server().port)/") ?? request.url
            try await probe.demandFailure(of: .secureConnectionFailed, sending: request)
        },
        make("fails when the connection is closed before the head", .each(.steps(.lost))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the connection is reset before the head", .each(.steps(.reset))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the connection is closed inside the head", .each(.steps(.lostInHead))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the body is shorter than its length", .each(cut(.head(length: 1_000), .lost))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the body of a 500 is shorter than its length", .each(cut(cut500, .lost))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the connection is reset inside the body", .each(cut(.head(length: 1_000), .reset))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make("fails when the last chunk is missing", .each(cut(.chunkedHead, .lost))) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make.wire(
            "fails when a chunk ends before its length",
            .each(.wire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"))
        ) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        make.wire(
            "fails when a chunk's length is not a number",
            .each(.wire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"))
        ) { probe in
            try await probe.demandFailure(of: .malformedResponse)
        },
        make.wire("fails when the response is not HTTP", .each(.wire("SSH-2.0-OpenSSH_9.2\r\nand more of it\r\n\r\n")))
        {
            probe in
            try await probe.demandFailure(of: .malformedResponse)
        },
        make("keeps secrets out of the error's text", .each(.steps(.lost))) { probe in
            var request = probe.request("/?token=hunter2")
            request.headers = ["Authorization": "Bearer hunter2", "Cookie": "session=hunter2"]
            let error = try await probe.demandFailure(of: .connectionLost, sending: request)
            try probe.demand(!"\(error)".contains("hunter2"), "the text shows a secret")
            try probe.demand(!"\(error.localizedDescription)".contains("hunter2"), "the description shows a secret")
        },
        make("never retries a POST", .each(.steps(.lost))) { probe in
            try await probe.demandFailure(of: .connectionLost, sending: probe.request("/", .post, .text("once")))
            try probe.demandEqual(probe.log.requests.count, 1, "the number of requests")
        },
        make("works after a failure", ["/lost": .steps(.lost), "/cut": cut(.head(length: 1_000), .lost)]) { probe in
            for target in ["/lost", "/cut", "/lost"] {
                try await probe.demandFailure(of: .connectionLost, sending: probe.request(target))
                try probe.demandEqual(try await probe.text(probe.request("/after")), "ok", "the body after \(target)")
            }
        },
        leavesWhatFollowsABodyAlone,
        neverTakesSurplusForAResponse,
    ]

    private static func cut(_ head: PeerAnswer.Step, _ end: PeerAnswer.Step) -> PeerAnswer {
        .steps(head, .text("only this"), end)
    }

    private static let cut500 = PeerAnswer.Step.head(500, HTTPHeaders(), .length(1_000))

    /// A response is complete at its Content-Length.
    ///
    /// Bytes after that do not belong to the response.
    ///
    /// RFC 9112, section 6.3: a client may discard data after a response, and must not read the data as a separate
    /// response. libcurl discards the data and only logs that, so a provider has no error to throw. A Content-Length
    /// that is too small is therefore not detected, but no body is delivered beyond its length.
    private static let leavesWhatFollowsABodyAlone = make.wire(
        "ignores bytes after the body",
        .each(.wire("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nokHTTP/1.1 500 Bad\r\n\r\n"))
    ) { probe in
        let (response, body) = try await probe.send(probe.request())
        try probe.demandEqual(response.status, 200, "the status")
        try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
    }

    /// Surplus bytes on a connection never answer another request.
    ///
    /// libcurl 7.88 closes the connection if the length is known, and drops the surplus otherwise. In this test, the
    /// surplus arrives together with the response. If it arrived later, it would look like an early response to the
    /// next request, and libcurl does not detect early responses.
    private static let neverTakesSurplusForAResponse = make.wire(
        "never reads bytes after a body as the next response",
        PeerAnswers(answersWithSurplus)
    ) { probe in
        for target in ["/204", "/chunked", "/length"] {
            let connectionCount = try probe.server().connectionCount
            let first = try await probe.text(probe.request(target))
            try probe.demandEqual(first, target == "/204" ? "" : "ok", "the body")
            try probe.demandEqual(try await probe.text(probe.request("/next")), "mine", "the body after \(target)")
            guard target == "/length" else { continue }
            try probe.demandEqual(try probe.server().connectionCount - connectionCount, 2, "the number of connections")
        }
    }

    private static let answersWithSurplus: [String: PeerAnswer] = {
        let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        return [
            "/next": .steps(.head(200, HTTPHeaders(), .untilClosed), .text("mine")),
            "/204": .steps(.wire("HTTP/1.1 204 No Content\r\n\r\n" + surplus)),
            "/chunked": .steps(
                .wire("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + surplus)
            ),
            "/length": .steps(.wire("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + surplus)),
        ]
    }()
}
