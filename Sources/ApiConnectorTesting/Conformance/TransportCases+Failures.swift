// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension TransportCase {
    /// What breaks, and what it is called.
    static let failures: [TransportCase] = [
        TransportCase("names a server that is not there", serve: answerAll) { probe in
            let request = probe.request()
            probe.server.stop()
            try await probe.demandFailure(of: .cannotConnect, sending: request)
        },
        TransportCase("fails when the connection is closed before the head", serve: saying()) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        TransportCase(
            "fails when the connection is closed inside the head",
            serve: saying("HTTP/1.1 200 OK\r\nContent-Le")
        ) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        TransportCase(
            "M8: fails when the body is shorter than its length",
            serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
        ) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        TransportCase(
            "fails when the connection is reset inside the body",
            serve: { connection in
                guard try connection.readRequest() != nil else { return }
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
                connection.reset()
            },
            check: { probe in try await probe.demandFailure(of: .connectionLost) }
        ),
        TransportCase(
            "fails when chunks end before the last",
            serve: saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
        ) { probe in
            try await probe.demandFailure(of: .connectionLost)
        },
        TransportCase(
            "fails when a chunk's length is none",
            serve: saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")
        ) { probe in
            try await probe.demandFailure(of: .malformedResponse)
        },
        TransportCase(
            "fails when the answer is no HTTP",
            serve: saying("SSH-2.0-OpenSSH_9.2\r\nand more of it\r\n\r\n")
        ) { probe in
            try await probe.demandFailure(of: .malformedResponse)
        },
        leavesWhatFollowsABodyAlone,
        neverTakesSurplusForAResponse,
    ]

    /// Bytes behind a body whose length is known are none of this response's, and it is complete without them.
    ///
    /// RFC 9112, section 6.3: where data remains behind a response, a client may discard it, and must not take it for
    /// a response of its own. libcurl does so, and says it in its log only; there is no error that could be delivered.
    /// A length that is too small is therefore not found out; a body that is longer than its framing is never delivered
    /// longer.
    private static let leavesWhatFollowsABodyAlone = TransportCase(
        "leaves what follows a body alone",
        serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nokHTTP/1.1 500 Bad\r\n\r\n")
    ) { probe in
        let (response, body) = try await probe.send(probe.request())
        try probe.demandEqual(response.status, 200, "the status")
        try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
    }

    /// What a connection said beyond what it was asked answers no other request.
    ///
    /// libcurl 7.88 closes the connection where the length was known, and drops the surplus where it was not. The surplus
    /// comes in one piece with its response: later it cannot be told from an early answer to the next request, and libcurl
    /// does not look.
    private static let neverTakesSurplusForAResponse = TransportCase(
        "never takes what follows a body for the next response",
        serve: { connection in
            let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            while let request = try connection.readRequest() {
                guard let answer = answersWithSurplus[request.target] else {
                    return try connection.send(.text("mine"), answering: request)
                }
                try connection.send(answer + surplus)
            }
        },
        check: { probe in
            for target in answersWithSurplus.keys.sorted() {
                let connectionCount = probe.server.connectionCount
                let first = try await probe.send(probe.request(.get, target)).body
                try probe.demandEqual(String(decoding: first, as: UTF8.self), target == "/204" ? "" : "ok", "the body")
                let second = try await probe.send(probe.request(.get, "/next")).body
                try probe.demandEqual(String(decoding: second, as: UTF8.self), "mine", "the body after \(target)")
                guard target == "/length" else { continue }
                try probe.demandEqual(probe.server.connectionCount - connectionCount, 2, "the number of connections")
            }
        }
    )

    private static let answersWithSurplus = [
        "/204": "HTTP/1.1 204 No Content\r\n\r\n",
        "/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "/length": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ]
}
