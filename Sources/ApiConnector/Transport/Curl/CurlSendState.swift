// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides whether a request may be sent; does not call libcurl itself.
///
/// libcurl calls a callback before each send of a transfer (`CURLOPT_PREREQFUNCTION`). The first send requires a
/// connection on which nothing has arrived. Each later send repeats the request. RFC 9110, section 9.2.2, allows this
/// only for idempotent methods and for requests that the server has not processed.
struct CurlSendState {
    /// The connections that a transfer may use.
    enum Route {
        case any
        /// A new connection.
        case fresh
        /// An open connection.
        case open
        /// A new connection, over HTTP/1.1.
        case http1
    }

    enum Step: Equatable {
        case send
        /// Nothing was sent this time; the loop adds the transfer again.
        case again(Route)
        /// The request was sent and may have been processed.
        case refuse
    }

    /// The known facts before a send.
    struct Question {
        /// Whether the connection was used before, or is shared.
        var isReused = false
        /// Whether the server requires HTTP/1.1, and libcurl would use HTTP/2.
        var requiresHTTP1 = false
        /// Whether bytes arrived on the connection while it was idle.
        var hasUnsolicitedInput = false
        /// Whether the connection uses HTTP/2, and the server requires HTTP/1.1; libcurl 8.12 does not compare them.
        var hasOtherVersion = false
        /// Whether the server has closed the connection, for a connection that may use HTTP/2.
        var hasEnded = false
        /// Whether this libcurl cannot reuse the connection in the way that the transfer requests.
        var isUnusableWhenReused = false
        /// Whether a part of the request was sent before.
        var wasSent = false
        /// Whether a response of the server caused the repetition.
        var isAnswered = false
        /// Whether the server has reported that it did not process the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the same effect as sending it once.
        var isRepeatable = false

        /// Whether the send repeats a failed send.
        fileprivate var isRepetition: Bool { wasSent && !isAnswered }
    }

    /// The known facts after a transfer has failed.
    struct Failure {
        /// Whether the error can be caused by a closing connection.
        var isLostConnection = false
        /// Whether a part of the request was sent.
        var wasSent = false
        /// Whether the server has reported that it did not process the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the same effect as sending it once.
        var isRepeatable = false
        /// Whether the server requires HTTP/1.1.
        var requiresHTTP1 = false
    }

    /// The maximum number of times that a transfer is added again.
    static let maximumAgainCount = 5

    /// The maximum number of repetitions of a request that the server may have processed.
    static let maximumRepetitionCount = 1

    /// The maximum number of repetitions of a request that the server has not processed.
    static let maximumRefusalCount = 1

    private(set) var route = Route.any
    private(set) var step = Step.send
    private var againCount = 0
    private var repetitionCount = 0
    private var refusalCount = 0
    /// Whether a connection had ended when the request was about to be sent.
    ///
    /// If a server closes each connection immediately, the request is sent on the second connection.
    private var hasReplacedConnection = false

    /// Starts with the first connection of a transfer.
    init(route: Route = .any) {
        self.route = route
    }

    /// Decides whether libcurl may send the request.
    mutating func ask(_ question: Question) -> Step {
        step = answer(question)
        return step
    }

    private mutating func answer(_ question: Question) -> Step {
        if question.isRepetition {
            guard countRepetition(question.isProvenUnprocessed, question.isRepeatable) else { return .refuse }
            if question.isReused, !question.requiresHTTP1 { return .again(.fresh) }
        }
        if question.requiresHTTP1, route != .http1 { return .again(.http1) }
        if question.hasEnded, question.isReused || !hasReplacedConnection {
            hasReplacedConnection = true
            return .again(.fresh)
        }
        guard question.isReused else { return .send }
        if question.hasUnsolicitedInput || question.hasOtherVersion { return .again(.fresh) }
        return question.isUnusableWhenReused && route == .any ? .again(.open) : .send
    }

    /// Counts a repetition; returns false if it is not allowed.
    private mutating func countRepetition(_ isProvenUnprocessed: Bool, _ isRepeatable: Bool) -> Bool {
        if isProvenUnprocessed, refusalCount < Self.maximumRefusalCount {
            refusalCount += 1
            return true
        }
        guard isRepeatable, repetitionCount < Self.maximumRepetitionCount else { return false }
        repetitionCount += 1
        return true
    }

    /// Decides whether libcurl may connect; false if the transfer should use an open connection.
    mutating func mayConnect(_ question: Question) -> Bool {
        guard route == .open else { return true }
        // libcurl calls this for each address.
        guard step == .send else { return false }
        guard question.isRepetition else {
            step = .again(.any)
            return false
        }
        let mayRepeat = countRepetition(question.isProvenUnprocessed, question.isRepeatable)
        step = mayRepeat ? .again(.fresh) : .refuse
        return false
    }

    /// Decides whether a failed transfer is added again; its caller has not received any part of the response.
    ///
    /// - Returns: Whether the loop should add the transfer again, with ``route``.
    mutating func retry(_ failure: Failure) -> Bool {
        guard againCount < Self.maximumAgainCount else { return false }
        switch step {
        case .again(let route):
            // The routes `any` and `open` may keep alternating; a new connection ends that.
            self.route = route == .http1 || againCount + 1 < Self.maximumAgainCount ? route : .fresh
        case .refuse: return false
        case .send:
            let isUnprocessed = failure.isProvenUnprocessed || (failure.isLostConnection && !failure.wasSent)
            guard isUnprocessed || failure.isLostConnection, countRepetition(isUnprocessed, failure.isRepeatable) else {
                return false
            }
            route = failure.requiresHTTP1 ? .http1 : .fresh
        }
        againCount += 1
        step = .send
        return true
    }
}
