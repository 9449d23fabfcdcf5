// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting

extension Breakage {
    static let requestBodies: [Breakage] = [
        .request("calls every body a form", caughtBy: "never calls a body a form that was not called one") { request in
            guard request.body.mediaType == .octetStream else { return }
            request.headers[.contentType] = "application/x-www-form-urlencoded"
        },
        .request("gives a type to no body", caughtBy: "gives no type to a body that there is not") { request in
            if request.body.isEmpty { request.headers[.contentType] = "application/octet-stream" }
        },
        .request("sends no body with DELETE", caughtBy: "sends a body with its type, whatever the method") { request in
            if request.method == .delete { request.body = .empty }
        },
        .request(
            "cuts a body off at 64 KiB",
            caughtBy: "sends bodies whole that just fill a buffer or just do not",
            "sends a body of 3 MB whole",
            "sends a file whole",
            "names the length of a body that it knows"
        ) { request in
            guard let byteCount = request.body.byteCount, byteCount > 65_536 else { return }
            let body = try await request.body.collect(upTo: .max)
            request.body = .data(body.prefix(65_536), mediaType: request.body.mediaType ?? .octetStream)
        },
        .request(
            "takes a body for text",
            caughtBy: "sends every value of a byte as it is",
            "sends bodies whole that just fill a buffer or just do not",
            "sends a body of 3 MB whole",
            "sends a file whole"
        ) { request in
            guard let type = request.body.mediaType, type == .octetStream, request.body.byteCount != nil else { return }
            let body = try await request.body.collect(upTo: .max)
            guard body.count != 4, body.contains(where: { $0 != 0 }) else { return }
            request.body = .text(String(decoding: body, as: UTF8.self), mediaType: type)
        },
        Breakage(
            testDescription: "reads a source to its end before it sends",
            caughtBy: [
                "sends a source's beginning before the source ends",
                "answers a cancel while a body's source has nothing, and lets go of it",
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
            caughtBy: ["fails with what a source throws", "fails where the file is missing"]
        ) { request, provider in
            do {
                return try await provider.response(for: request)
            } catch let error as ApiConnectorError where error.kind == .encodingFailed {
                throw ApiConnectorError(.connectionLost, "the body broke", request: request)
            }
        },
    ]
}
