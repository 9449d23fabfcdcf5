// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

/// A recorded exchange between a program and its backend: a request and its outcome.
///
/// Each fact is stored once here. A file may contain a fact twice, such as a cookie in a header field and in a list.
/// Both are then derived from this value.
package struct RecordedExchange: Sendable, Hashable {
    /// How an answer ended.
    package enum End: Sendable, Hashable {
        /// The answer ended normally.
        case finished
        /// The reader stopped before the end.
        case left
        /// The answer failed: before the head if there is none, otherwise in the body.
        case failed(RecordedFailure)
        /// Unknown, because the file has no body.
        case unknown
    }

    /// A part of a body: its end offset and its arrival time.
    struct Chunk: Sendable, Hashable {
        var end: Int
        var time: Duration
    }

    var started: Date
    package var method: HTTPMethod
    /// The URL's text, which may not be a valid URL.
    package var url: String
    var headers: HTTPHeaders
    /// The request's body; nil if it is missing from the file.
    var body: Data?

    /// The answer's status; nil if no answer has arrived.
    package var status: HTTPStatus?
    var answerHeaders = HTTPHeaders()
    package var answer = Data()
    var chunks: [Chunk] = []
    package var end = End.finished

    /// The time from the start to the head, or to a failure before the head.
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

    package var mediaType: MediaType? { headers[.contentType].flatMap { MediaType($0) } }
    var answerMediaType: MediaType? { answerHeaders[.contentType].flatMap { MediaType($0) } }

    /// The answer's body in the parts in which it arrived.
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
package struct RecordedFailure: Sendable, Hashable {
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
