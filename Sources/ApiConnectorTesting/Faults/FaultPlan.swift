// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The faults to inject: a list, or a percentage of all calls, which a seed selects.
///
/// ```swift
/// FaultPlan([FaultPlan.Entry("GET /teas/1", Fault(.reset, at: .head))])
/// FaultPlan.percent(10, seed: 42)
/// ```
///
/// A plan has a text form (``description``), which gives the same plan on every platform.
public struct FaultPlan: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case list([FaultPlan.Entry])
        case share(FaultShare)
    }

    let content: Content

    private init(_ content: Content) {
        self.content = content
    }

    /// Makes a plan from a list.
    public init(_ faults: [FaultPlan.Entry]) {
        self.init(.list(faults))
    }

    /// A plan without faults.
    public static let none = FaultPlan([])

    /// Makes a plan in which a percentage of the calls fail.
    ///
    /// A seed selects these calls.
    ///
    /// The percentage is exact for calls with the same method, path, query and body. Other requests between these calls
    /// do not change it. At 10 %, each block of ten such calls has exactly one fault. At 5 %, each block of twenty
    /// calls has one. The seed and the request determine the position in the block.
    ///
    /// Among different requests, the percentage is reached on average. It cannot be exact, because the requests are not
    /// known in advance. ``FaultTest/randomFaults(_:of:seeds:within:_:)`` knows the requests, so its percentage is
    /// exact.
    ///
    /// - Parameters:
    ///   - percent: The percentage of calls that fail.
    ///   - seed: The seed of the choice.
    ///   - faults: The possible faults; ``Fault/transient`` by default.
    public static func percent(_ percent: Int, seed: UInt64, of faults: [Fault] = Fault.transient) -> FaultPlan {
        FaultPlan(.share(FaultShare(percent: min(max(percent, 0), 100), seed: seed, faults: faults)))
    }

    /// The faults of a plan made from a list; empty for other plans.
    public var faults: [FaultPlan.Entry] {
        if case .list(let faults) = content { faults } else { [] }
    }

    /// The fault of a request; nil if there is none.
    ///
    /// - Parameters:
    ///   - fullCall: The number of the call among calls with the same full key, counted from 1.
    ///   - shortCall: The number of the call among calls with the same short key.
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
    /// Temporary faults.
    ///
    /// A call that may be retried should succeed in spite of any one of them.
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

/// A percentage that applies to each group of calls with the same request.
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

extension FaultPlan {
    /// A fault and the request that it affects.
    public struct Entry: Sendable, Hashable {
        /// The request: the method and the path with the query, such as `GET /teas/1`.
        ///
        /// In generated plans, `~` and a hash of the body follow if the request has a body.
        public let request: String

        /// The number of the call among equal requests, counted from 1.
        public let call: Int

        /// The fault.
        public let fault: Fault

        /// Makes a planned fault.
        ///
        /// - Parameters:
        ///   - request: The method and the path with the query, such as `GET /teas/1`.
        ///   - call: The number of the call among equal requests, counted from 1; 1 by default. A retry counts as the
        ///     next call.
        ///   - fault: The fault.
        public init(_ request: String, call: Int = 1, _ fault: Fault) {
            self.request = request
            self.call = call
            self.fault = fault
        }
    }
}

/// The text form is the request, its number and the fault, such as `GET /teas/1 #2 truncated@12`.
extension FaultPlan.Entry: LosslessStringConvertible, Codable {
    /// Parses a planned fault; nil if the text is not a planned fault.
    public init?(_ description: String) {
        let words = description.split(separator: " ")
        guard words.count == 4, words[2].hasPrefix("#"), let call = Int(words[2].dropFirst()), call > 0,
            let fault = Fault(String(words[3]))
        else { return nil }
        self.init("\(words[0]) \(words[1])", call: call, fault)
    }

    /// The text form.
    public var description: String { "\(request) #\(call) \(fault)" }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}

/// The text form is a list, such as `GET /teas/1 #2 truncated@12; GET /teas #1 refused@send`, or a percentage, such as
/// `10% seed 42 of refused@send, reset@head`. For a plan without faults it is empty.
extension FaultPlan: LosslessStringConvertible, Codable {
    /// Parses a plan; nil if the text is not a plan.
    public init?(_ description: String) {
        if let share = FaultShare(text: description) {
            self = .percent(share.percent, seed: share.seed, of: share.faults)
            return
        }
        // A URL has no spaces.
        let texts = description.isEmpty ? [] : description.components(separatedBy: "; ")
        let faults = texts.map { FaultPlan.Entry($0) }
        guard !faults.contains(nil) else { return nil }
        self.init(faults.compactMap { $0 })
    }

    /// The text form.
    public var description: String {
        switch content {
        case .list(let faults): faults.map(\.description).joined(separator: "; ")
        case .share(let share): share.text
        }
    }

    /// The plan as Swift code.
    var source: String { "FaultPlan(\(String(reflecting: description)))" }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}

extension FaultShare {
    fileprivate init?(text: String) {
        let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, words[0].hasSuffix("%"), words[1] == "seed", words[3] == "of",
            let percent = Int(words[0].dropLast()), (0...100).contains(percent), let seed = UInt64(words[2])
        else { return nil }
        let texts = words[4].isEmpty ? [] : String(words[4]).components(separatedBy: ", ")
        let faults = texts.map { Fault($0) }
        guard !faults.contains(nil) else { return nil }
        self.init(percent: percent, seed: seed, faults: faults.compactMap { $0 })
    }

    fileprivate var text: String {
        "\(percent)% seed \(seed) of \(faults.map(\.description).joined(separator: ", "))"
    }
}
