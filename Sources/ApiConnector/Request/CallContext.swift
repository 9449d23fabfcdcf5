// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What all requests of one call share: its route, and the id that is made when somebody asks for it.
final class CallContext: Sendable {
    let route: (any ApiRouter)?
    private let id = Locked<CallID?>(nil)

    init(route: (any ApiRouter)?) {
        self.route = route
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
    /// Gives a request made by hand what its attempts share, so that they are one call; nothing for one of a connection.
    mutating func beginCall() {
        if context == nil { context = CallContext(route: nil) }
    }

    /// The call's id, the same for all its attempts and redirects.
    mutating func callID(random: @Sendable () -> UInt64) -> CallID {
        let context = context ?? CallContext(route: nil)
        self.context = context
        return context.id(random: random)
    }
}
