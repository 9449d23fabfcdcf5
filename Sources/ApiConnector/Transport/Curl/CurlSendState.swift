// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Decides whether a request may be sent: a value without libcurl in it.
///
/// libcurl asks before each send of a transfer (`CURLOPT_PREREQFUNCTION`). The first send needs a connection on which
/// nothing has arrived. Each later send repeats the request, which RFC 9110, section 9.2.2, allows only for idempotent
/// methods and for requests that the server has not processed.
struct CurlSendState {
    /// Which connections a transfer may take.
    enum Route {
        case any
        /// A new one.
        case fresh
        /// One that is open.
        case open
    }

    enum Step: Equatable {
        case send
        /// Nothing of this send was sent; the driver adds the transfer again.
        case again(Route)
        /// The request was sent, and may have been processed.
        case refuse
    }

    /// What is known when libcurl is about to send.
    struct Question {
        /// Whether the connection was used before, or is shared.
        var isReused = false
        /// Whether bytes arrived on it while it was idle.
        var hasUnsolicitedInput = false
        /// Whether the server has closed it, for a connection that may speak HTTP/2.
        var hasEnded = false
        /// Whether this libcurl cannot use the connection again in the way that the transfer asks for.
        var isUnusableWhenReused = false
        /// Whether some of the request was sent before.
        var wasSent = false
        /// Whether the server has asked for the repetition, by a response.
        var isAnswered = false
        /// Whether the server has said that it has not processed the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the effect of sending it once.
        var isRepeatable = false

        /// Whether the send repeats one that came to nothing.
        fileprivate var isRepetition: Bool { wasSent && !isAnswered }
    }

    /// What is known when a transfer has failed.
    struct Failure {
        /// Whether the error is one of those that a closing connection causes.
        var isLostConnection = false
        /// Whether some of the request was sent.
        var wasSent = false
        /// Whether the server has said that it has not processed the request.
        var isProvenUnprocessed = false
        /// Whether repeating the request has the effect of sending it once.
        var isRepeatable = false
    }

    /// How often a transfer is added again at most.
    static let maximumAgainCount = 5

    /// How often a request that the server may have processed is sent again at most.
    static let maximumRepetitionCount = 1

    /// How often a request that the server has not processed is sent again at most.
    static let maximumRefusalCount = 1

    private(set) var route = Route.any
    private(set) var step = Step.send
    private var againCount = 0
    private var repetitionCount = 0
    private var refusalCount = 0
    /// Whether a connection had ended when the request was to be sent.
    ///
    /// A server that closes each connection at once gets the request on the second one.
    private var hasReplacedConnection = false

    /// Begins with the first connection that a transfer tries.
    init(route: Route = .any) {
        self.route = route
    }

    /// libcurl is about to send the request.
    mutating func ask(_ question: Question) -> Step {
        step = answer(question)
        return step
    }

    private mutating func answer(_ question: Question) -> Step {
        if question.isRepetition {
            guard countRepetition(question.isProvenUnprocessed, question.isRepeatable) else { return .refuse }
            if question.isReused { return .again(.fresh) }
        }
        if question.hasEnded, question.isReused || !hasReplacedConnection {
            hasReplacedConnection = true
            return .again(.fresh)
        }
        guard question.isReused else { return .send }
        if question.hasUnsolicitedInput { return .again(.fresh) }
        return question.isUnusableWhenReused && route == .any ? .again(.open) : .send
    }

    /// Counts a repetition; false where there may be none.
    private mutating func countRepetition(_ isProvenUnprocessed: Bool, _ isRepeatable: Bool) -> Bool {
        if isProvenUnprocessed, refusalCount < Self.maximumRefusalCount {
            refusalCount += 1
            return true
        }
        guard isRepeatable, repetitionCount < Self.maximumRepetitionCount else { return false }
        repetitionCount += 1
        return true
    }

    /// libcurl is about to connect; false where the transfer is to take an open connection.
    mutating func mayConnect(_ question: Question) -> Bool {
        guard route == .open else { return true }
        // libcurl asks for each address.
        guard step == .send else { return false }
        guard question.isRepetition else {
            step = .again(.any)
            return false
        }
        let mayRepeat = countRepetition(question.isProvenUnprocessed, question.isRepeatable)
        step = mayRepeat ? .again(.fresh) : .refuse
        return false
    }

    /// The transfer has failed, and the caller has none of the response.
    ///
    /// - Returns: Whether the driver is to add it again, by ``route``.
    mutating func retry(_ failure: Failure) -> Bool {
        guard againCount < Self.maximumAgainCount else { return false }
        switch step {
        case .again(let route):
            // Two connections may keep changing places; a new one ends that.
            self.route = againCount + 1 < Self.maximumAgainCount ? route : .fresh
        case .refuse: return false
        case .send:
            let isUnprocessed = failure.isProvenUnprocessed || (failure.isLostConnection && !failure.wasSent)
            guard isUnprocessed || failure.isLostConnection, countRepetition(isUnprocessed, failure.isRepeatable) else {
                return false
            }
            route = .fresh
        }
        againCount += 1
        step = .send
        return true
    }
}
