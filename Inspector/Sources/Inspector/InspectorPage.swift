// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import FlyingFox
import FlyingSocks

/// Answers the requests of the page.
struct InspectorPage: HTTPHandler {
    let archive: ExchangeArchive
    let changes: ChangeFeed
    let token: String

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        // The property `request.path` of FlyingFox has no trailing slash, so the path is read from the target.
        var path = request.target.path().split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init
        )
        guard isAllowed(request), let first = path.first, isToken(first) else {
            return page(.forbidden, "text/plain", Data("Forbidden\n".utf8))
        }
        path.removeFirst()
        guard ["GET", "HEAD"].contains(request.method.rawValue) else {
            return page(.methodNotAllowed, "text/plain", Data("Method not allowed\n".utf8))
        }
        switch path {
        case [""]: return page(.ok, "text/html; charset=utf-8", Data(PackageResources.index_html))
        case ["inspector.js"]: return page(.ok, "text/javascript; charset=utf-8", Data(PackageResources.inspector_js))
        case ["inspector.css"]: return page(.ok, "text/css; charset=utf-8", Data(PackageResources.inspector_css))
        case ["changes"]: return feed()
        case ["archive.har"]: return har()
        case _ where path.count == 2 && path[0] == "exchanges":
            guard let number = Int(path[1]), let exchange = archive.exchange(number: number) else { break }
            return page(.ok, "application/json", try JSONEncoder().encode(ExchangeDetail(exchange)))
        default: break
        }
        return page(.notFound, "text/plain", Data("Not found\n".utf8))
    }

    /// Whether a request names this machine as its host, and no other site has caused it.
    ///
    /// A page of another origin whose name resolves to 127.0.0.1 (DNS rebinding) sends its own name as the host.
    private func isAllowed(_ request: HTTPRequest) -> Bool {
        guard let host = request.headers[.host]?.split(separator: ":").first, ["127.0.0.1", "localhost"].contains(host)
        else { return false }
        let site = request.headers[HTTPHeader("Sec-Fetch-Site")]
        return site == nil || site == "same-origin" || site == "none"
    }

    /// Whether a text is the token.
    ///
    /// The comparison takes constant time, so that its duration reveals nothing.
    private func isToken(_ text: String) -> Bool {
        let (left, right) = (Array(text.utf8), Array(token.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func har() -> HTTPResponse {
        guard let data = try? archive.har() else { return page(.internalServerError, "text/plain", Data()) }
        var response = page(.ok, "application/json", data)
        response.headers[HTTPHeader("Content-Disposition")] = "attachment; filename=\"exchanges.har\""
        return response
    }

    private func feed() -> HTTPResponse {
        HTTPResponse(
            statusCode: .ok,
            headers: Self.headers("text/event-stream"),
            body: HTTPBodySequence(from: EventFeed(archive: archive, changes: changes))
        )
    }

    private func page(_ status: HTTPStatusCode, _ type: String, _ body: Data) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: Self.headers(type), body: body)
    }

    /// The header fields of a response.
    ///
    /// With them, the browser loads and runs only the page's own files. No other page may frame the page, read it or
    /// hold a reference to its window.
    private static func headers(_ type: String) -> FlyingFox.HTTPHeaders {
        [
            .contentType: type,
            HTTPHeader("Cache-Control"): "no-store",
            HTTPHeader("Content-Security-Policy"):
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
            HTTPHeader("Referrer-Policy"): "no-referrer",
            HTTPHeader("X-Content-Type-Options"): "nosniff",
        ]
    }
}

/// Server-sent events: first all stored exchanges, then each change.
private struct EventFeed: AsyncBufferedSequence {
    typealias Element = UInt8

    let archive: ExchangeArchive
    let changes: ChangeFeed

    func makeAsyncIterator() -> Iterator { Iterator(archive: archive, changes: changes) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        private let archive: ExchangeArchive
        private let reader: Reader
        /// The numbers of the exchanges to send.
        ///
        /// An exchange is read when it is sent, so that a page that stops reading keeps no bodies in memory.
        private var rest: [Int]?

        init(archive: ExchangeArchive, changes: ChangeFeed) {
            self.archive = archive
            reader = Reader(changes)
        }

        /// This method is not used, because the server reads whole buffers.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            var numbers = rest ?? archive.exchanges.map(\.number)
            if rest != nil, numbers.isEmpty {
                guard let changed = await reader.changes.next(reader.id) else { return nil }
                numbers = changed
            }
            rest = Array(numbers.dropFirst(Self.batchCount))
            return try Self.event(numbers.prefix(Self.batchCount).compactMap { archive.exchange(number: $0) })
        }

        private static let batchCount = 500

        private static func event(_ exchanges: [ArchivedExchange]) throws -> [UInt8] {
            let data = try JSONEncoder().encode(exchanges.map(ExchangeSummary.init))
            return Array("data: ".utf8) + Array(data) + Array("\n\n".utf8)
        }
    }

    /// Reads the page's feed, and closes the feed when the response ends.
    private final class Reader: Sendable {
        let changes: ChangeFeed
        let id: UUID

        init(_ changes: ChangeFeed) {
            self.changes = changes
            id = changes.open()
        }

        deinit { changes.close(id) }
    }
}
