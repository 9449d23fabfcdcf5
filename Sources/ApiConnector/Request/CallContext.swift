// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// State that all requests of a call share: the route, the connection's environment, and an ID that is created on
/// demand.
final class CallContext: Sendable {
    let route: (any ApiRouter)?
    /// The route of the first page; nil for a request that is not for a following page.
    ///
    /// A following page has a URL that the server returned, not its own route.
    let pageRoute: (any ApiRouter)?
    /// The environment of the connection; nil for a request without a connection.
    let environment: (any ApiEnvironment)?
    private let id = Locked<CallID?>(nil)

    /// Whether the router made the URL.
    ///
    /// It is stored, because comparing the route copies it.
    let hasRoute: Bool

    init(
        route: (any ApiRouter)? = nil,
        pageRoute: (any ApiRouter)? = nil,
        environment: (any ApiEnvironment)? = nil
    ) {
        self.route = route
        hasRoute = route != nil
        self.pageRoute = pageRoute
        self.environment = environment
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

extension RequestState {
    /// The call that a request belongs to.
    struct Call: Sendable {
        fileprivate var context: CallContext?

        init(_ context: CallContext? = nil) { self.context = context }
    }
}

extension ApiRequest {
    /// The call of this request; nil for a request without a connection until a wrapper needs one.
    var context: CallContext? { state.storage?.parts.call.context }

    /// Makes this request the first one of a call.
    mutating func begin(_ call: CallContext) { state.change { $0.call.context = call } }

    /// Begins a call if the request belongs to none, so that its attempts belong to one call.
    mutating func beginCall() { if context == nil { begin(CallContext()) } }

    /// Makes this request a part of the call that another request belongs to.
    mutating func joinCall(of other: ApiRequest) {
        if context !== other.context { state.change { $0.call.context = other.context } }
    }

    /// The ID of the call, which all its attempts, redirects and ``CallEvent``s share.
    ///
    /// It is created on first use, also for a request without a connection.
    ///
    /// - Parameter random: Returns 64 random bits; uses the system's generator by default.
    public mutating func callID(random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }) -> CallID {
        let context = context ?? CallContext()
        if self.context == nil { begin(context) }
        return context.id(random: random)
    }
}

/// The ID of a call, which all its events, attempts and redirects share.
///
/// It has 128 random bits. ``DataRequestType/tracing(isSampled:random:)`` sends it as the trace ID, so that logs and
/// traces can be correlated.
public struct CallID: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes an ID from random bits; never the ID of zeros, which Trace Context forbids.
    init(random: @Sendable () -> UInt64) {
        high = random()
        let bits = random()
        low = high == 0 && bits == 0 ? 1 : bits
    }

    /// 32 hexadecimal digits in lower case.
    public var description: String { high.hexadecimal + low.hexadecimal }
}

extension UInt64 {
    /// 16 hexadecimal digits in lower case.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
