// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

extension ConformanceCase {
    private static let make = CaseMaker(topic: .requestBodies)

    /// Cases about request bodies as the server receives them.
    static let requestBodies: [ConformanceCase] = [
        make("sends a body with its type for every method") { probe in
            for (number, method) in [HTTPMethod.post, .put, .patch, .delete].enumerated() {
                _ = try await probe.send(probe.request("/", method, .data(Data(#"{"a":1}"#.utf8), mediaType: .json)))
                let seen = try await probe.log.request(number)
                try probe.demandBytes(seen.body, Data(#"{"a":1}"#.utf8), "the body of \(method)")
                try probe.demandEqual(seen.values("Content-Type"), ["application/json"], "Content-Type of \(method)")
            }
        },
        make.wire("sends Content-Length for a body of known length") { probe in
            for (number, byteCount) in [1, 7, 70_000].enumerated() {
                _ = try await probe.send(probe.request("/", .put, .data(Data(count: byteCount))))
                let seen = try await probe.log.request(number)
                try probe.demandEqual(seen.values("Content-Length"), ["\(byteCount)"], "Content-Length")
            }
        },
        make.wire("sends Content-Length 0 for a POST without a body") { probe in
            _ = try await probe.send(probe.request("/", .post))
            try probe.demandEqual(try await probe.log.request(0).values("Content-Length"), ["0"], "Content-Length")
        },
        make("sends no Content-Type without a body") { probe in
            for (number, method) in [HTTPMethod.get, .post, .delete].enumerated() {
                _ = try await probe.send(probe.request("/", method))
                let seen = try await probe.log.request(number)
                try probe.demandEqual(seen.values("Content-Type"), [], "Content-Type of \(method)")
                try probe.demandBytes(seen.body, Data(), "the body of \(method)")
            }
        },
        make("never adds a form's Content-Type by itself") { probe in
            _ = try await probe.send(probe.request("/", .post, .data(Data([0, 1, 2, 255]))))
            let seen = try await probe.log.request(0)
            try probe.demandEqual(seen.values("Content-Type"), ["application/octet-stream"], "Content-Type")
        },
        make("sends all 256 byte values unchanged") { probe in
            let body = Data(0...255) + Data("\r\n\r\n0\r\n\r\n".utf8)
            _ = try await probe.send(probe.request("/", .post, .data(body)))
            try probe.demandBytes(try await probe.log.request(0).body, body, "the body")
        },
        make("sends whole bodies of sizes around a buffer's size") { probe in
            let byteCounts = [1, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537]
            for (number, byteCount) in byteCounts.enumerated() {
                let body = Data.counting(by: 31, byteCount: byteCount)
                _ = try await probe.send(probe.request("/", .put, .data(body)))
                try probe.demandBytes(try await probe.log.request(number).body, body, "the body")
            }
        },
        make("sends a whole body of 3 MB") { probe in
            let body = Data.counting(by: 31, byteCount: 3_000_000)
            _ = try await probe.send(probe.request("/", .post, .data(body)))
            try probe.demandBytes(try await probe.log.request(0).body, body, "the body")
        },
        make("sends text in UTF-8 with its charset") { probe in
            _ = try await probe.send(probe.request("/", .post, .text("grün 🍵")))
            let seen = try await probe.log.request(0)
            try probe.demandBytes(seen.body, Data("grün 🍵".utf8), "the body")
            try probe.demandEqual(seen.values("Content-Type"), ["text/plain; charset=utf-8"], "Content-Type")
        },
        make("sends a value as JSON") { probe in
            _ = try await probe.send(probe.request("/", .post, .json(["tea": 1])))
            let seen = try await probe.log.request(0)
            try probe.demandEqual(String(decoding: seen.body, as: UTF8.self), #"{"tea":1}"#, "the body")
            try probe.demandEqual(seen.values("Content-Type"), ["application/json"], "Content-Type")
        },
        make("sends a value as a form") { probe in
            _ = try await probe.send(probe.request("/", .post, .form(["tea": "a b&c"])))
            let seen = try await probe.log.request(0)
            try probe.demandEqual(String(decoding: seen.body, as: UTF8.self), "tea=a+b%26c", "the body")
            try probe.demandEqual(seen.values("Content-Type"), ["application/x-www-form-urlencoded"], "Content-Type")
        },
        make("sends a multipart form with the boundary of its Content-Type") { probe in
            let form = RequestBody.multipart([.text("green", name: "tea"), .text("hot", name: "how")])
            _ = try await probe.send(probe.request("/", .post, form))
            let seen = try await probe.log.request(0)
            let type = seen.values("Content-Type").first ?? ""
            let boundary = type.components(separatedBy: "boundary=").last?.trimmingCharacters(in: ["\""]) ?? ""
            let parts = String(decoding: seen.body, as: UTF8.self).components(separatedBy: "--\(boundary)")
            try probe.demand(type.hasPrefix("multipart/form-data; boundary="), "Content-Type is \(type)")
            try probe.demandEqual(parts.count, 4, "the number of pieces between boundaries")
            try probe.demand(parts[1].hasSuffix("\r\n\r\ngreen\r\n"), "the first part is \(parts[1])")
            try probe.demand(parts[2].hasSuffix("\r\n\r\nhot\r\n"), "the second part is \(parts[2])")
            try probe.demandEqual(parts[3].trimmingCharacters(in: .newlines), "--", "the end")
        },
        make("sends a whole file") { probe in
            let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
            let body = Data.counting(by: 3, byteCount: 200_000)
            try body.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            _ = try await probe.send(probe.request("/", .put, .file(file)))
            try probe.demandBytes(try await probe.log.request(0).body, body, "the body")
        },
        make("fails when the file is missing") { probe in
            let file = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
            try await probe.demandFailure(of: .encodingFailed, sending: probe.request("/", .put, .file(file)))
        },
        make("sends a source's chunks in order, with and without a known length") { probe in
            for (number, byteCount) in [nil, 12].enumerated() {
                _ = try await probe.send(
                    probe.request("/", .post, chunks("one ", "two ", "four", byteCount: byteCount))
                )
                let seen = try await probe.log.request(number)
                try probe.demandEqual(String(decoding: seen.body, as: UTF8.self), "one two four", "the body")
            }
        },
        make.wire("sends Content-Length for a source of known length") { probe in
            _ = try await probe.send(probe.request("/", .post, chunks("one ", "two ", "four", byteCount: 12)))
            let seen = try await probe.log.request(0)
            try probe.demandEqual(seen.values("Content-Length"), ["12"], "Content-Length")
            try probe.demandEqual(seen.values("Transfer-Encoding"), [], "Transfer-Encoding")
        },
        make("sends the first chunk of a source before the source ends") { probe in
            let log = probe.log
            let body = RequestBody.stream {
                AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("one ".utf8))
                    Task {
                        do {
                            try await log.arrival(0)
                            continuation.yield(Data("two".utf8))
                            continuation.finish()
                        } catch {
                            continuation.finish(throwing: error)
                        }
                    }
                }
            }
            _ = try await probe.send(probe.request("/", .post, body))
            let seen = try await probe.log.request(0)
            try probe.demandEqual(String(decoding: seen.body, as: UTF8.self), "one two", "the body")
        },
        make("fails with the error that a source throws") { probe in
            let body = RequestBody.stream {
                AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("one".utf8))
                    continuation.finish(throwing: CaseFailure(description: "the source broke"))
                }
            }
            let error = try await probe.demandFailure(of: .encodingFailed, sending: probe.request("/", .post, body))
            try probe.demand(error.underlying is CaseFailure, "the error does not hold the source's: \(error)")
        },
    ]

    private static func chunks(_ texts: String..., byteCount: Int?) -> RequestBody {
        .stream(byteCount: byteCount) {
            AsyncStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }
    }
}
