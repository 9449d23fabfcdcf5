// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// Which exchanges go wrong, and how: written out, or a share of all from a seed.
///
/// ```swift
/// FaultPlan([PlannedFault("GET /teas/1", Fault(.reset, at: .head))])
/// FaultPlan.percent(10, seed: 42)
/// ```
///
/// A plan is a value, and its text reads back as the same plan on every platform.
public struct FaultPlan: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case list([PlannedFault])
        case share(FaultShare)
    }

    let content: Content

    private init(_ content: Content) {
        self.content = content
    }

    /// A plan that is written out.
    public init(_ faults: [PlannedFault]) {
        self.init(.list(faults))
    }

    /// Nothing goes wrong.
    public static let none = FaultPlan([])

    /// A share of the calls, chosen by a seed.
    ///
    /// The choice is exact for each request by itself, and does not depend on the order in which different requests
    /// come: of the calls with the same method, path, query and body, each block of ten has exactly one fault at 10 %,
    /// of twenty exactly one at 5 %, at a place in the block that follows from the seed and the request. Over requests
    /// that are all different it is a share on average; no choice can be exact over requests that nobody knows
    /// beforehand and independent of their order, too. ``FaultTest/randomFaults(_:of:seeds:within:_:)`` knows them beforehand, and
    /// is both.
    ///
    /// - Parameters:
    ///   - percent: How many of a hundred calls go wrong.
    ///   - seed: What the choice follows from.
    ///   - faults: What can go wrong; ``Fault/transient`` by default.
    public static func percent(_ percent: Int, seed: UInt64, of faults: [Fault] = Fault.transient) -> FaultPlan {
        FaultPlan(.share(FaultShare(percent: min(max(percent, 0), 100), seed: seed, faults: faults)))
    }

    /// The faults of a plan that is written out; empty for any other.
    public var faults: [PlannedFault] {
        if case .list(let faults) = content { faults } else { [] }
    }

    /// What befalls a request.
    ///
    /// - Parameters:
    ///   - fullCall: Its number among those of the same full key, counted from 1.
    ///   - shortCall: Its number among those of the same short key.
    func fault(for key: ExchangeKey, fullCall: Int, shortCall: Int) -> Fault? {
        switch content {
        case .list(let faults):
            faults.first { planned in
                planned.request == key.full && planned.call == fullCall
                    || planned.request == key.short && planned.call == shortCall
            }?.fault
        case .share(let share): share.fault(for: key.full, call: fullCall)
        }
    }
}

extension Fault {
    /// Faults that pass by themselves, so that a call that may be repeated survives each of them.
    public static let transient: [Fault] = [
        Fault(.refused, at: .beforeSending),
        Fault(.reset, at: .beforeSending),
        Fault(.timeout, at: .beforeSending),
        Fault(.status(503), at: .beforeSending),
        Fault(.status(429, retryAfter: .seconds(1)), at: .beforeSending),
        Fault(.reset, at: .head),
        Fault(.timeout, at: .head),
        Fault(.stall, at: .head),
        Fault(.truncated, at: .head),
        Fault(.status(500), at: .head),
        Fault(.truncated, at: .byte(1)),
        Fault(.reset, at: .end),
    ]
}

/// A share of the calls with each request.
struct FaultShare: Sendable, Hashable {
    let percent: Int
    let seed: UInt64
    let faults: [Fault]

    func fault(for key: String, call: Int) -> Fault? {
        guard !faults.isEmpty, percent > 0 else { return nil }
        let divisor = Self.greatestCommonDivisor(percent, 100)
        let (count, length) = (percent / divisor, 100 / divisor)
        let (block, place) = (call - 1).quotientAndRemainder(dividingBy: length)
        var random = KeyedRandom(seed, key, block)
        guard random.permutation(of: length)[place] < count else { return nil }
        var choice = KeyedRandom(seed ^ .max, key, call)
        return faults[choice.next(below: faults.count)]
    }

    private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestCommonDivisor(other, one % other)
    }
}
