// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// What passed between a program and its backend: a request, and what became of it.
///
/// Each fact stands here once; what a file has twice, as a cookie in a header field and in a list, is written from it.
struct RecordedExchange: Sendable, Hashable {
    /// How an answer ended.
    enum End: Sendable, Hashable {
        /// As it should.
        case finished
        /// Its reader left before it had ended.
        case left
        /// By an error: before the head where there is none, else in the body.
        case failed(RecordedFailure)
        /// Nobody knows: the file has no body.
        case unknown
    }

    /// A part of a body: where in the body it ends, and when it came.
    struct Chunk: Sendable, Hashable {
        var end: Int
        var time: Duration
    }

    var started: Date
    var method: HTTPMethod
    /// The URL's text; it may be none that can be asked for.
    var url: String
    var headers: HTTPHeaders
    /// Nil where the file does not have it.
    var body: Data?

    /// Nil where no answer came.
    var status: HTTPStatus?
    var answerHeaders = HTTPHeaders()
    var answer = Data()
    var chunks: [Chunk] = []
    var end = End.finished

    /// The time from the start to the head, or to the failure before it.
    var headTime = Duration.zero
    /// The time from the start to the end.
    var endTime = Duration.zero

    init(started: Date, method: HTTPMethod, url: String, headers: HTTPHeaders, body: Data?) {
        self.started = started
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } }
    var answerMediaType: MediaType? { answerHeaders[.contentType].flatMap { MediaType($0) } }

    /// The answer's body in the parts in which it came.
    var parts: [(bytes: Data, time: Duration)] {
        var start = answer.startIndex
        return chunks.map { chunk in
            let end = max(start, min(answer.startIndex + chunk.end, answer.endIndex))
            defer { start = end }
            return (answer[start..<end], chunk.time)
        }
    }
}

/// An error in a recording.
struct RecordedFailure: Sendable, Hashable {
    var kind: ApiConnectorError.Kind
    var stage: ApiConnectorError.Stage
    var detail: String

    init(kind: ApiConnectorError.Kind, stage: ApiConnectorError.Stage, detail: String) {
        self.kind = kind
        self.stage = stage
        self.detail = detail
    }

    init(_ error: ApiConnectorError) {
        self.init(kind: error.kind, stage: error.stage, detail: error.detail)
    }

    var error: ApiConnectorError { ApiConnectorError(kind, at: stage, detail) }
}
