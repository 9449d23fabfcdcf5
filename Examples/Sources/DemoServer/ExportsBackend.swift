// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
package import Foundation

/// Large responses that are generated while they are sent.
struct ExportsBackend: Backend {
    func answer(_ call: Call) async throws -> HTTPResponse {
        switch (call.method, Array(call.path)) {
        case ("GET", ["rows.ndjson"]):
            return rows(call, "application/x-ndjson", before: "", between: "\n", after: "\n")
        case ("GET", ["rows.json"]):
            return rows(call, "application/json", before: #"{"data":{"items":["#, between: ",", after: "]}}")
        case ("GET", ["archive"]):
            return archive(call)
        default:
            return .message("There is no such export.", .notFound)
        }
    }

    /// Rows from 1 on, 100 per chunk.
    private func rows(
        _ call: Call,
        _ type: String,
        before: String,
        between: String,
        after: String
    ) -> HTTPResponse {
        let count = call.number("count") ?? 100_000
        let bytes = MadeBytes { piece in
            let first = piece * 100
            guard first < max(count, 1) else { return nil }
            let last = min(first + 100, count)
            var text = first == 0 ? before : between
            text += (first..<last).map { #"{"id":\#($0),"name":"Row \#($0)","amount":\#($0 * 7 % 1000)}"# }
                .joined(separator: between)
            return Data((last == count ? text + after : text).utf8)
        }
        return HTTPResponse(
            statusCode: .ok,
            headers: HTTPHeaders([.contentType: type]),
            body: HTTPBodySequence(from: bytes, suggestedBufferSize: MadeBytes.pieceByteCount)
        )
    }

    /// The archive, or the rest of it if the client's partial download has the same version.
    private func archive(_ call: Call) -> HTTPResponse {
        let tag = "\"archive-1\""
        let total = Archive.byteCount
        let start = call.rangeStart ?? 0
        let isRest = start > 0 && call.ifRange == tag
        guard !isRest || start < total else {
            return HTTPResponse(
                statusCode: .rangeNotSatisfiable,
                headers: HTTPHeaders([.contentRange: "bytes */\(total)"])
            )
        }
        let offset = isRest ? start : 0
        let hold = isRest ? nil : call.number("hold")
        let pause = Duration.milliseconds(call.number("pause") ?? 0)
        let bytes = MadeBytes { piece in
            let from = offset + piece * MadeBytes.pieceByteCount
            let to = min(from + MadeBytes.pieceByteCount, total)
            if let hold, to > hold { try await Self.forever() }
            if pause > .zero { try await Task.sleep(for: pause) }
            return from < to ? Archive.bytes(from..<to) : nil
        }
        var headers: HTTPHeaders = [
            .contentType: "application/octet-stream", HTTPHeader("ETag"): tag, HTTPHeader("Accept-Ranges"): "bytes",
        ]
        if isRest { headers[.contentRange] = "bytes \(offset)-\(total - 1)/\(total)" }
        return HTTPResponse(
            statusCode: isRest ? HTTPStatusCode.partialContent : .ok,
            headers: headers,
            body: HTTPBodySequence(
                from: bytes,
                count: total - offset,
                suggestedBufferSize: MadeBytes.pieceByteCount
            )
        )
    }

    /// Waits until the server is stopped.
    private static func forever() async throws {
        let forever = AsyncStream<Never> { _ in }
        for await _ in forever {}
        throw CancellationError()
    }
}

/// The archive: 8 MiB of consecutive numbers, 8 bytes each, so that all chunks differ.
package enum Archive {
    package static let byteCount = 8 << 20

    package static func bytes(_ range: Range<Int>) -> Data {
        let first = range.lowerBound / 8
        let numbers = (first..<(range.upperBound + 7) / 8).map { UInt64($0).bigEndian }
        let bytes = numbers.withUnsafeBytes { Data($0) }
        return bytes[(range.lowerBound - first * 8)..<(range.upperBound - first * 8)]
    }
}
