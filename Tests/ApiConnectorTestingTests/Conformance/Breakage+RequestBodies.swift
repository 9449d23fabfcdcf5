// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let requestBodies: [Breakage] = [
        .request("calls every body a form", caughtBy: "never adds a form's Content-Type by itself") { request in
            guard request.body.mediaType == .octetStream else { return }
            request.headers[.contentType] = "application/x-www-form-urlencoded"
        },
        .request("gives a type to no body", caughtBy: "sends no Content-Type without a body") { request in
            if request.body.isEmpty { request.headers[.contentType] = "application/octet-stream" }
        },
        .request("sends no body with DELETE", caughtBy: "sends a body with its type for every method") { request in
            if request.method == .delete { request.body = .empty }
        },
        .request(
            "cuts a body off at 64 KiB",
            caughtBy: "sends whole bodies of sizes around a buffer's size",
            "sends a whole body of 3 MB",
            "sends a whole file",
            "sends Content-Length for a body of known length"
        ) { request in
            guard let byteCount = request.body.byteCount, byteCount > 65_536 else { return }
            let body = try await request.body.collect(upTo: .max)
            request.body = .data(body.prefix(65_536), mediaType: request.body.mediaType ?? .octetStream)
        },
        .request(
            "takes a body for text",
            caughtBy: "sends all 256 byte values unchanged",
            "sends whole bodies of sizes around a buffer's size",
            "sends a whole body of 3 MB",
            "sends a whole file"
        ) { request in
            guard let type = request.body.mediaType, type == .octetStream, request.body.byteCount != nil else { return }
            let body = try await request.body.collect(upTo: .max)
            guard body.count != 4, body.contains(where: { $0 != 0 }) else { return }
            request.body = .text(String(decoding: body, as: UTF8.self), mediaType: type)
        },
        Breakage(
            testDescription: "reads a source to its end before it sends",
            caughtBy: [
                "sends the first chunk of a source before the source ends",
                "ends a canceled call while the body's source is idle, and releases the source",
            ],
            hangs: true
        ) { provider in
            AnyProvider(
                provider.rewriting { request in
                    guard request.body.isStreamed, request.body.byteCount == nil else { return }
                    let body = request.body
                    request.body = .data(
                        try await body.collect(upTo: .max),
                        mediaType: body.mediaType ?? .octetStream
                    )
                }
            )
        },
        .whole(
            "calls what a source throws a lost connection",
            caughtBy: ["fails with the error that a source throws", "fails when the file is missing"]
        ) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .encodingFailed {
                throw ApiConnectorError(.connectionLost, "the body broke", request: request)
            }
        },
    ]
}
