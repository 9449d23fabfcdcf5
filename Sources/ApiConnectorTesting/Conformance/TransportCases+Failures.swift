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
        TransportCase(
            "leaves what follows a body alone",
            serve: saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nokHTTP/1.1 500 Bad\r\n\r\n")
        ) { probe in
            let (response, body) = try await probe.send(probe.request())
            try probe.demandEqual(response.status, 200, "the status")
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "ok", "the body")
        },
    ]
}
