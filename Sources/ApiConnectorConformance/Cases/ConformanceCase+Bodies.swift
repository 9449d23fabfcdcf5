// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ConformanceCase {
    private static let make = CaseMaker(topic: .bodies)

    /// Cases about collected response bodies.
    static let bodies: [ConformanceCase] = [
        make("delivers an empty body", .each(.text(""))) { probe in
            try probe.demandBytes(try await probe.send(probe.request()).body, Data(), "the body")
        },
        make("delivers a 204 and a 304 without a body", ["/204": .head(204), "/304": .head(304)]) { probe in
            for target in ["/204", "/304", "/204"] {
                let (response, body) = try await probe.send(probe.request(target))
                try probe.demandEqual(response.status.rawValue, target == "/304" ? 304 : 204, "the status")
                try probe.demandBytes(body, Data(), "the body")
            }
        },
        make(
            "delivers no body for HEAD, regardless of the Content-Length",
            .each(.steps(.head(200, ["Content-Length": "1000"], .none)))
        ) { probe in
            for _ in 0..<2 {
                let (response, body) = try await probe.send(probe.request("/", .head))
                try probe.demandEqual(response.headers["Content-Length"], "1000", "Content-Length")
                try probe.demandBytes(body, Data(), "the body")
            }
        },
        make.wire(
            "joins chunks and drops chunk extensions",
            .each(
                .wire(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                    "3;x=y\r\nabc\r\n",
                    "1\r",
                    "\nd\r\n",
                    "0\r\n\r\n"
                )
            )
        ) { probe in
            try probe.demandEqual(try await probe.text(probe.request()), "abcd", "the body")
        },
        make("joins chunks of one byte", .each(.chunks("one byte each".utf8.map { Data([$0]) }))) { probe in
            try probe.demandEqual(try await probe.text(probe.request()), "one byte each", "the body")
        },
        make.wire(
            "reads a body without a length until the connection closes",
            .each(.wire("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "all of ", "it"))
        ) { probe in
            try probe.demandEqual(try await probe.text(probe.request()), "all of it", "the body")
        },
        make.wire("understands HTTP/1.0", .each(.wire("HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\n", "old"))) {
            probe in
            try probe.demandEqual(try await probe.text(probe.request()), "old", "the body")
        },
        make("delivers all 256 byte values unchanged", .each(.data(everyByte))) { probe in
            try probe.demandBytes(try await probe.send(probe.request()).body, everyByte, "the body")
        },
        make("delivers whole bodies of sizes around a buffer's size", PeerAnswers(bodiesByTarget)) { probe in
            for byteCount in byteCounts {
                let body = try await probe.send(probe.request("/\(byteCount)")).body
                try probe.demandBytes(body, .counting(by: 7, byteCount: byteCount), "the body of \(byteCount) bytes")
            }
        },
        make("delivers a whole body of 3 MB", ["/large": .data(.counting(by: 7, byteCount: 3_000_000))]) { probe in
            let body = try await probe.send(probe.request("/large")).body
            try probe.demandBytes(body, .counting(by: 7, byteCount: 3_000_000), "the body")
        },
        make("delivers the body of a 404 and a 500", ["/404": .text("lost", 404), "/500": .text("broken", 500)]) {
            probe in
            try probe.demandEqual(try await probe.text(probe.request("/404")), "lost", "the body of the 404")
            try probe.demandEqual(try await probe.text(probe.request("/500")), "broken", "the body of the 500")
        },
        make("accepts a body exactly at the limit", .each(.text("hello"))) { probe in
            let body = try await probe.text(probe.request(delivery: .collected(upTo: 5)))
            try probe.demandEqual(body, "hello", "the body")
        },
        make("fails a body one byte over the limit", .each(.text("hello!"))) { probe in
            try await probe.demandFailure(of: .bodyTooLarge, sending: probe.request(delivery: .collected(upTo: 5)))
        },
        make("fails a chunked body over the limit", .each(.chunks([Data("hel".utf8), Data("lo!".utf8)]))) { probe in
            try await probe.demandFailure(of: .bodyTooLarge, sending: probe.request(delivery: .collected(upTo: 5)))
        },
        make("fails a body over the limit before the body ends", .each(endless)) { probe in
            try await probe.demandFailure(
                of: .bodyTooLarge,
                sending: probe.request(delivery: .collected(upTo: 100_000))
            )
        },
        make("disconnects when a body exceeds the limit", .each(endless)) { probe in
            try await probe.demandFailure(
                of: .bodyTooLarge,
                sending: probe.request(delivery: .collected(upTo: 100_000))
            )
            try await probe.log.callerLeft(0)
        },
    ]

    /// All 256 bytes, and the bytes that end a chunked body.
    private static let everyByte = {
        var bytes = Data.counting(by: 1, byteCount: 256)
        bytes.append(contentsOf: "\r\n0\r\n\r\n".utf8)
        return bytes
    }()

    private static let byteCounts = [1, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537]

    private static let bodiesByTarget = Dictionary(
        uniqueKeysWithValues: byteCounts.map { ("/\($0)", PeerAnswer.data(.counting(by: 7, byteCount: $0))) }
    )

    private static let endless = PeerAnswer.steps(.head(length: 2_000_000_000), .endless)
}
