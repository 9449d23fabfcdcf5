// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What all requests of one call share: its route, its connection's environment, and the id that is made when somebody
/// asks for it.
final class CallContext: Sendable {
    let route: (any ApiRouter)?
    /// Where the connection is at home; nil for a request made by hand.
    let environment: (any ApiEnvironment)?
    /// The route's URL, where its query has dates that the connection's encoder writes.
    private let datedURL: DatedURL?
    private let id = Locked<CallID?>(nil)

    var hasRoute: Bool { route != nil }

    init(route: (any ApiRouter)? = nil, environment: (any ApiEnvironment)? = nil, datedURL: DatedURL? = nil) {
        self.route = route
        self.environment = environment
        self.datedURL = datedURL
    }

    /// Writes the URL's query again, if it has dates that the connection's encoder writes.
    func writeDates(into request: inout ApiRequest, with encoder: JSONEncoder) throws(ApiConnectorError) {
        guard let datedURL, let route else { return }
        request.url = try datedURL.written(with: encoder).checked(for: route)
    }

    func id(random: @Sendable () -> UInt64) -> CallID {
        if let known = id.withLock({ $0 }) { return known }
        let new = CallID(random: random)
        return id.withLock { id in
            let chosen = id ?? new
            id = chosen
            return chosen
        }
    }
}

extension ApiRequest {
    /// Gives a request made by hand what its attempts share, so that they are one call; nothing for one of a
    /// connection.
    mutating func beginCall() {
        if context == nil { context = CallContext() }
    }

    /// The call's id, the same for all its attempts and redirects, and for its ``CallEvent``s.
    ///
    /// It is made when it is first asked for. Afterwards a request made by hand has one, too.
    ///
    /// - Parameter random: Where chance comes from: 64 random bits; the system's generator by default.
    public mutating func callID(random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }) -> CallID {
        let context = context ?? CallContext()
        self.context = context
        return context.id(random: random)
    }
}
