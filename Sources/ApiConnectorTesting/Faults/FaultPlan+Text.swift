// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

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
