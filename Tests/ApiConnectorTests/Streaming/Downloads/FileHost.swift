// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnectorTesting
import Testing

@testable import ApiConnector

/// A file on a server, and the place that it is downloaded to.
struct FileHost {
    /// The file and its fields on the server; a field that is nil is omitted.
    struct Version: Sendable {
        var content: Data
        var etag: String? = "\"v1\""
        var lastModified: String?
        var more: [(name: String, value: String)] = []

        /// The whole file, or its beginning followed by the end of the connection.
        func whole(cutAt length: Int? = nil) -> LoopbackResponse {
            var headers = fields
            headers.append((name: "Content-Length", value: "\(content.count)"))
            if length != nil { headers.append((name: "Connection", value: "close")) }
            return LoopbackResponse(headers: headers, body: content.prefix(length ?? content.count))
        }

        /// The rest of the file from a byte on.
        func rest(from offset: Int, to end: Int? = nil) -> LoopbackResponse {
            let end = end ?? content.count
            var headers = fields
            headers.append((name: "Content-Range", value: "bytes \(offset)-\(content.count - 1)/\(content.count)"))
            headers.append((name: "Content-Length", value: "\(content.count - offset)"))
            if end < content.count { headers.append((name: "Connection", value: "close")) }
            return LoopbackResponse(status: 206, headers: headers, body: content[offset..<end])
        }

        /// The response of a server that supports ranges.
        func answer(_ request: SeenRequest, cutAt length: Int? = nil) -> LoopbackResponse {
            let start = request.header("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            let isSame = request.header("If-Range") == etag ?? lastModified
            guard let start, isSame else { return whole(cutAt: length) }
            guard start < content.count else {
                return LoopbackResponse(status: 416, headers: [("Content-Range", "bytes */\(content.count)")])
            }
            return rest(from: start, to: length)
        }

        private var fields: [(name: String, value: String)] {
            var fields = more
            if let etag { fields.append((name: "ETag", value: etag)) }
            if let lastModified { fields.append((name: "Last-Modified", value: lastModified)) }
            return fields
        }
    }

    let web: ScriptedWeb
    let folder: TemporaryFolder
    let clock = ManualClock()

    /// - Parameter answers: The responses to the requests in order; the last one also answers all later requests.
    init(
        over wire: Wire = .system,
        in folder: TemporaryFolder? = nil,
        _ answers: [@Sendable (SeenRequest) -> LoopbackResponse]
    ) throws {
        let count = Locked(0)
        self.folder = try folder ?? TemporaryFolder()
        web = try ScriptedWeb(over: wire) { request in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return answers[min(number, answers.count - 1)](request)
        }
    }

    var api: NetworkConnector<AnyProvider, Endpoint<ApiPath>> {
        NetworkConnector(
            environment: web.place,
            provider: web.provider,
            configuration: ConnectionConfiguration(timeouts: .unlimited, timeSource: clock)
        )
    }

    var target: URL { folder.file("export.bin") }
    var content: Data? { folder.data("export.bin") }

    /// Attempts without a wait between them.
    static let atOnce = RetryPolicy(maximumAttemptCount: 3, initialDelay: .zero)

    func stream(
        _ path: ApiPath = "/export",
        resuming policy: RetryPolicy? = atOnce,
        calls: FileCalls = .system
    ) -> ResponseStream<DownloadEvent> {
        api.download(.route(Endpoint(path)), to: target, resuming: policy, CallOptions(), calls: calls)
    }

    /// The failure of a download that has to fail.
    func failure(of stream: ResponseStream<DownloadEvent>) async -> ApiConnectorError? {
        do throws(ApiConnectorError) {
            _ = try await stream.file()
            return nil
        } catch {
            return error
        }
    }

    /// The requested ranges, one text per request.
    var ranges: [String] {
        web.requests.map { request in
            request.header("Range").map { "\($0) if \(request.header("If-Range") ?? "any")" } ?? "whole"
        }
    }

    /// Puts another record beside the part that is there.
    func rename(_ record: DownloadRecord) throws {
        try JSONEncoder().encode(record).write(to: folder.file(".export.bin.part.json"))
    }

    /// Puts a part there, with its record or with something that is not a record.
    func leave(_ part: Data, _ record: DownloadRecord?) throws {
        try part.write(to: folder.file(".export.bin.part"))
        if let record { try rename(record) } else { try Data("{".utf8).write(to: folder.file(".export.bin.part.json")) }
    }
}
