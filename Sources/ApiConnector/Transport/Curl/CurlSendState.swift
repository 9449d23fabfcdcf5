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

        /// Whether sending the request now cannot have the effect of sending it twice.
        var allowsSending: Bool { !wasSent || isAnswered || isProvenUnprocessed || isRepeatable }
    }

    /// How often a transfer is added again at most.
    static let maximumAgainCount = 5

    /// How often a request that may have been processed is sent again at most.
    ///
    /// Twice: a server with a short idle timeout may close the second connection, too, before the request arrives.
    static let maximumRepetitionCount = 2

    private(set) var route = Route.any
    private(set) var step = Step.send
    private var againCount = 0
    /// How often libcurl was asked to repeat a request that may have been processed.
    private var repetitionCount = 0

    /// Begins with the first connection that a transfer tries.
    init(route: Route = .any) {
        self.route = route
    }

    /// libcurl is about to send the request.
    mutating func ask(_ question: Question) -> Step {
        step = answer(question)
        return step
    }

    private func answer(_ question: Question) -> Step {
        guard question.allowsSending else { return .refuse }
        guard question.isReused else { return .send }
        if question.hasUnsolicitedInput { return .again(.fresh) }
        return question.isUnusableWhenReused && route == .any ? .again(.open) : .send
    }

    /// libcurl is about to connect; false where the transfer is to take an open connection.
    mutating func mayConnect(_ question: Question) -> Bool {
        guard route == .open else { return true }
        step = question.allowsSending ? .again(.any) : .refuse
        return false
    }

    /// The transfer has failed before any of its response came.
    ///
    /// - Parameters:
    ///   - isLostConnection: Whether the error is one of those that a closing connection causes.
    ///   - wasSent: Whether some of the request was sent.
    ///   - isRepeatable: Whether repeating the request has the effect of sending it once.
    /// - Returns: Whether the driver is to add it again, by ``route``.
    mutating func retry(isLostConnection: Bool, wasSent: Bool, isRepeatable: Bool) -> Bool {
        guard againCount < Self.maximumAgainCount else { return false }
        switch step {
        case .again(let route):
            // Two connections may keep changing places; a new one ends that.
            self.route = againCount + 1 < Self.maximumAgainCount ? route : .fresh
        case .refuse: return false
        case .send:
            guard isLostConnection, repetitionCount < Self.maximumRepetitionCount, !wasSent || isRepeatable else {
                return false
            }
            repetitionCount += 1
            route = .fresh
        }
        againCount += 1
        step = .send
        return true
    }
}
