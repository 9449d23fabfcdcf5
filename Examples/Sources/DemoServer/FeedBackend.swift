// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import FlyingFox
import FlyingSocks
import Foundation

/// Comments as server-sent events.
///
/// The server disconnects after every third event.
///
/// It resumes after the event in the client's `Last-Event-ID`, and answers 204 when there are no more events.
struct FeedBackend: Backend {
    private struct Comment: Encodable {
        let author: String
        let text: String
    }

    /// The number of events per connection.
    private static let eventCount = 3

    /// The time after which a client should reconnect, in milliseconds.
    private static let retry = 400

    private let comments = [
        Comment(author: "ada", text: "Is the kettle on?"),
        Comment(author: "ted", text: "It has been on since noon."),
        Comment(author: "max", text: "Snores."),
        Comment(author: "ada", text: "Then why is there no tea?"),
        Comment(author: "grace", text: "Because of a moth in relay 70."),
        Comment(author: "ted", text: "Not again."),
        Comment(author: "ada", text: "Did you write it down?"),
        Comment(author: "grace", text: "First actual case."),
        Comment(author: "max", text: "Ate it."),
    ]

    func answer(_ call: Call) async throws -> HTTPResponse {
        guard call.method == "GET", Array(call.path) == ["comments"] else {
            return .message("There is no such feed.", .notFound)
        }
        let start = call.lastEventID.flatMap { Int($0) } ?? 0
        guard comments.indices.contains(start) else { return HTTPResponse(statusCode: .noContent) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var events = ["retry: \(Self.retry)\n\n"]
        for (index, comment) in comments.enumerated().dropFirst(start).prefix(Self.eventCount) {
            let data = String(decoding: try encoder.encode(comment), as: UTF8.self)
            events.append("id: \(index + 1)\nevent: comment\ndata: \(data)\n\n")
        }
        let gap = call.query.first { $0.name == "gap" }.flatMap { Int($0.value) } ?? 0
        return HTTPResponse(
            statusCode: .ok,
            headers: [.contentType: "text/event-stream", HTTPHeader("Cache-Control"): "no-store"],
            body: HTTPBodySequence(from: Paced(texts: events, gap: .milliseconds(min(max(gap, 0), 5_000))))
        )
    }
}

/// Texts with a pause before each text except the first.
private struct Paced: AsyncBufferedSequence {
    typealias Element = UInt8

    let texts: [String]
    let gap: Duration

    func makeAsyncIterator() -> Iterator { Iterator(texts: texts[...], gap: gap) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate var texts: ArraySlice<String>
        fileprivate let gap: Duration
        private var isFirst = true

        fileprivate init(texts: ArraySlice<String>, gap: Duration) {
            self.texts = texts
            self.gap = gap
        }

        /// This method is not used, because the server reads whole buffers.
        mutating func next() async throws -> UInt8? { nil }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard let text = texts.popFirst() else { return nil }
            if !isFirst, gap > .zero { try await Task.sleep(for: gap) }
            isFirst = false
            return Array(text.utf8)
        }
    }
}
