// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ConformanceCase {
    private static let make = CaseMaker(topic: .streams)

    /// Cases about streamed response bodies.
    static let streams: [ConformanceCase] = [
        make("returns the head before the body", .each(.steps(.chunkedHead, .hold(0), .text("late")))) { probe in
            let response = try await probe.stream()
            try probe.demandEqual(response.status, 200, "the status")
            probe.side.release(0)
            try probe.demandEqual(
                String(decoding: try await response.body.collect(upTo: 9), as: UTF8.self),
                "late",
                "the body"
            )
        },
        make(
            "yields the chunks that have arrived while the server holds the rest",
            .each(.steps(.chunkedHead, .text("one"), .hold(0), .text("two"), .hold(1), .text("three")))
        ) { probe in
            var chunks = try await probe.stream().body.makeAsyncIterator()
            for (number, text) in ["one", "two", "three"].enumerated() {
                try probe.demandEqual(try await chunks.text(of: text.count), text, "chunk \(number)")
                probe.side.release(number)
            }
            try probe.demandEqual(try await chunks.next(), nil, "the element after the last chunk")
        },
        make("yields no chunk for an empty body", ["/204": .head(204), "/empty": .text("")]) { probe in
            for target in ["/empty", "/204"] {
                for try await chunk in try await probe.stream(target).body {
                    throw CaseFailure(description: "\(target) delivered a chunk of \(chunk.count) bytes")
                }
            }
        },
        make("yields 3 MB in order, without an empty chunk", .each(.data(.counting(by: 7, byteCount: 3_000_000)))) {
            probe in
            var received = Data()
            for try await chunk in try await probe.stream().body {
                try probe.demand(!chunk.isEmpty, "an empty chunk arrived after \(received.count) bytes")
                received += chunk
            }
            try probe.demandBytes(received, .counting(by: 7, byteCount: 3_000_000), "the body")
        },
        make.wire(
            "streams a body without a length until the connection closes",
            .each(.wire("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "all of ", "it"))
        ) { probe in
            var chunks = try await probe.stream().body.makeAsyncIterator()
            try probe.demandEqual(try await chunks.text(of: 9), "all of it", "the body")
            try probe.demandEqual(try await chunks.next(), nil, "the element after the last chunk")
        },
        make(
            "yields the chunks before a lost connection, then fails",
            [
                "/length": .steps(.head(length: 100), .text("abc"), .lost),
                "/chunks": .steps(.chunkedHead, .text("abc"), .lost),
            ]
        ) { probe in
            for target in ["/length", "/chunks"] {
                let body = try await probe.stream(target).body
                let received = try await probe.demandFailure(of: .connectionLost, reading: body)
                try probe.demandEqual(String(decoding: received, as: UTF8.self), "abc", "the bytes before the failure")
            }
        },
        make.wire(
            "yields the chunks before malformed data, then fails",
            .each(
                .wire(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"
                )
            )
        ) { probe in
            let received = try await probe.demandFailure(of: .malformedResponse, reading: try await probe.stream().body)
            try probe.demandEqual(String(decoding: received, as: UTF8.self), "abc", "the bytes before the failure")
        },
        make(
            "applies back-pressure when the reader is slow",
            [
                "/large": PeerAnswer(
                    steps: [.head(length: 64 << 20), .hold(0)] + Array(repeating: .bytes(block), count: 64)
                )
            ]
        ) { probe in
            async let response = probe.stream("/large")
            probe.side.release(0)
            let body = try await response.body
            // These calls give the provider enough time to read ahead.
            for _ in 0..<50 { _ = try await probe.send(probe.request("/beside")) }
            // The provider's window and the kernel's buffers on both sides hold a few megabytes at most.
            try probe.demand(probe.log.sentByteCount < 32 << 20, "\(probe.log.sentByteCount) bytes arrived unread")
            var received = 0
            for try await chunk in body { received += chunk.count }
            try probe.demandEqual(received, 64 << 20, "the number of bytes")
        },
        make("disconnects when a stream is released unread", .each(unfinished)) { probe in
            do { _ = try await probe.stream() }
            try await probe.log.callerLeft(0)
        },
        make("disconnects when the reader leaves the loop", .each(unfinished)) { probe in
            do {
                for try await _ in try await probe.stream().body { break }
            }
            try await probe.log.callerLeft(0)
        },
        make("works after an abandoned stream", ["/left": unfinished]) { probe in
            for _ in 0..<3 {
                for try await _ in try await probe.stream("/left").body { break }
                try probe.demandEqual(try await probe.text(probe.request("/after")), "ok", "the body after it")
            }
        },
        make("collects a streamed body up to a limit", ["/ten": .text("0123456789"), "/endless": endless]) { probe in
            let body = try await probe.stream("/ten").body.collect(upTo: 10)
            try probe.demandEqual(String(decoding: body, as: UTF8.self), "0123456789", "the body")
            try await probe.demandFailureOfLargeBody(at: "/endless")
        },
        make("disconnects when a streamed body exceeds the limit", .each(endless)) { probe in
            try await probe.demandFailureOfLargeBody(at: "/")
            try await probe.log.callerLeft(0)
        },
        make(
            "keeps two streams separate",
            [
                "/a": .steps(.chunkedHead, .text("a1"), .hold(0), .text("a2")),
                "/b": .steps(.chunkedHead, .text("b1"), .hold(1), .text("b2")),
            ]
        ) { probe in
            var one = try await probe.stream("/a").body.makeAsyncIterator()
            var other = try await probe.stream("/b").body.makeAsyncIterator()
            try probe.demandEqual(try await other.text(of: 2), "b1", "the first chunk of stream 2")
            try probe.demandEqual(try await one.text(of: 2), "a1", "the first chunk of stream 1")
            probe.side.release(1)
            try probe.demandEqual(try await other.text(of: 2), "b2", "the second chunk of stream 2")
            probe.side.release(0)
            try probe.demandEqual(try await one.text(of: 2), "a2", "the second chunk of stream 1")
        },
    ]

    private static let block = Data.counting(by: 7, byteCount: 1 << 20)

    private static let unfinished = PeerAnswer.steps(.head(length: 100), .text("abc"), .silence)

    private static let endless = PeerAnswer.steps(.head(length: 2_000_000_000), .endless)
}

extension ResponseBody.AsyncIterator {
    /// Reads chunks until there are `byteCount` bytes, and returns them as text.
    mutating func text(of byteCount: Int) async throws(ApiConnectorError) -> String {
        var bytes = Data()
        while bytes.count < byteCount, let chunk = try await next() { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ConformanceProbe {
    /// Requires that an endless stream fails when its collected bytes exceed a limit.
    fileprivate func demandFailureOfLargeBody(at target: String) async throws {
        let response = try await stream(target)
        do throws(ApiConnectorError) {
            _ = try await response.body.collect(upTo: 1_000)
        } catch {
            return try demandEqual(error.kind, .bodyTooLarge, "the kind")
        }
        throw CaseFailure(description: "a body over the limit was collected")
    }
}
