// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The peer's answer to one request, as a value.
///
/// A server plays the answer on a socket. A test double plays it from memory.
struct PeerAnswer: Sendable {
    /// How a server marks the end of the body.
    enum Framing: Sendable, Equatable {
        case length(Int)
        case chunked
        case untilClosed
        /// No framing, for statuses and methods without a body.
        case none
    }

    enum Step: Sendable {
        /// Waits until the conformance case opens the gate with this number.
        case hold(Int)
        case head(HTTPStatus, HTTPHeaders, Framing)
        /// A part of the body; with chunked framing, one chunk.
        case bytes(Data)
        /// Bytes without an end, as long as the client reads.
        case endless
        /// Sends nothing until the caller disconnects.
        case silence
        /// The connection is closed in the middle.
        case lost
        /// The connection is reset in the middle.
        case reset
        /// The connection is closed within the head.
        case lostInHead
        /// Raw bytes, which only a socket can send.
        case wire(String)
    }

    var steps: [Step]

    /// Whether the request's body is read before the first step.
    var readsBody = true

    /// A well-formed response.
    static func data(_ data: Data, _ status: HTTPStatus = 200, _ headers: HTTPHeaders = HTTPHeaders()) -> PeerAnswer {
        PeerAnswer(steps: [.head(status, headers, .length(data.count)), .bytes(data)])
    }

    /// A well-formed response with a text.
    static func text(_ text: String, _ status: HTTPStatus = 200, _ headers: HTTPHeaders = HTTPHeaders()) -> PeerAnswer {
        .data(Data(text.utf8), status, headers)
    }

    /// A response without a body.
    static func head(_ status: HTTPStatus, _ headers: HTTPHeaders = HTTPHeaders()) -> PeerAnswer {
        PeerAnswer(steps: [.head(status, headers, .none)])
    }

    /// A response in chunks.
    static func chunks(_ chunks: [Data]) -> PeerAnswer {
        PeerAnswer(steps: [.head(200, HTTPHeaders(), .chunked)] + chunks.map(Step.bytes))
    }

    static func steps(_ steps: Step...) -> PeerAnswer {
        PeerAnswer(steps: steps)
    }

    /// Raw pieces, which are sent one after the other.
    ///
    /// Then the connection is closed.
    static func wire(_ pieces: String...) -> PeerAnswer {
        PeerAnswer(steps: pieces.map(Step.wire) + [.lost])
    }
}

extension PeerAnswer.Step {
    static func text(_ text: String) -> PeerAnswer.Step { .bytes(Data(text.utf8)) }

    static let chunkedHead = PeerAnswer.Step.head(200, HTTPHeaders(), .chunked)

    static func head(length: Int) -> PeerAnswer.Step { .head(200, HTTPHeaders(), .length(length)) }
}

/// The answers of a case by the request's target, with one answer for all other targets.
struct PeerAnswers: Sendable, ExpressibleByDictionaryLiteral {
    private var byTarget: [String: PeerAnswer] = [:]
    private var others = PeerAnswer.text("ok")

    /// An answer that replaces all others: it is played on each connection before the client sends anything.
    private(set) var onConnection: PeerAnswer?

    init(dictionaryLiteral elements: (String, PeerAnswer)...) {
        for (target, answer) in elements { byTarget[target] = answer }
    }

    init(_ byTarget: [String: PeerAnswer]) {
        self.byTarget = byTarget
    }

    /// The same answer to every request.
    static func each(_ answer: PeerAnswer) -> PeerAnswers {
        var answers: PeerAnswers = [:]
        answers.others = answer
        return answers
    }

    /// The same answer on every connection, which is played before the client sends anything.
    static func onConnection(_ answer: PeerAnswer) -> PeerAnswers {
        var answers: PeerAnswers = [:]
        answers.onConnection = answer
        return answers
    }

    /// `ok` to every request.
    static let ok: PeerAnswers = [:]

    subscript(target: String) -> PeerAnswer { byTarget[target] ?? others }
}
