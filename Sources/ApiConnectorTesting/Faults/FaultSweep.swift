// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The faults that are tried on each exchange.
public struct FaultSweep: Sendable {
    let faults: @Sendable (FaultInjector.Exchange) -> [Fault]

    /// Every effect at every place where it is possible: before sending, in the head, at the start, in the middle,
    /// before the last byte and at the end of the body.
    ///
    /// A refused connection and the statuses 503 and 429 occur only before sending, and the status 500 only in the
    /// head.
    public static let standard = FaultSweep { exchange in
        let broken: [Fault.Effect] = [.reset, .timeout, .stall, .truncated, .malformed, .garbage]
        let before = [.refused] + broken + [.status(503), .status(429, retryAfter: .seconds(2))]
        guard exchange.hasHead else { return before.map { Fault($0, at: .beforeSending) } }
        let count = exchange.byteCount
        let offsets = count > 0 ? Set([0, count / 2, count - 1]).sorted() : []
        let ends: [Fault.Place] = count > 0 && exchange.isWhole ? [.end] : []
        return before.map { Fault($0, at: .beforeSending) } + [Fault(.status(500), at: .head)]
            + ([.head] + offsets.map { .byte($0) } + ends).flatMap { place in broken.map { Fault($0, at: place) } }
    }

    /// ``Fault/transient``, without faults in the body if there is no body.
    public static let transient = FaultSweep { exchange in
        Fault.transient.filter { fault in
            switch fault.place {
            case .beforeSending: true
            case .head: exchange.hasHead
            case .byte(let count): count < exchange.byteCount
            case .end: exchange.isWhole && exchange.byteCount > 0
            }
        }
    }

    /// Some effects at every position in a body: before the first byte, between two bytes, and after the last byte.
    ///
    /// - Parameter effects: The effects; a truncated body by default.
    public static func everyByte(_ effects: [Fault.Effect] = [.truncated]) -> FaultSweep {
        FaultSweep { exchange in
            let ends: [Fault.Place] = exchange.isWhole ? [.end] : []
            let places = (0..<exchange.byteCount).map { .byte($0) } + ends
            return places.flatMap { place in effects.map { Fault($0, at: place) } }
        }
    }

    /// The same faults on each exchange.
    public static func only(_ faults: [Fault]) -> FaultSweep {
        FaultSweep { _ in faults }
    }

    /// Returns these faults, except those that a closure selects.
    public func without(_ isMeant: @escaping @Sendable (Fault) -> Bool) -> FaultSweep {
        FaultSweep { exchange in faults(exchange).filter { !isMeant($0) } }
    }
}
