// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// The text form is the effect and the place, such as `refused@send`, `truncated@12`, `stall@end` and `503@head`.
/// `429+2@send` is a 429 with `Retry-After: 2`.
extension Fault: LosslessStringConvertible, Codable {
    /// Parses a fault; nil if the text is not a fault.
    public init?(_ description: String) {
        let parts = description.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let effect = Effect(text: parts[0]), let place = Place(text: parts[1]) else {
            return nil
        }
        self.init(effect, at: place)
        // If the initializer has changed the place, the text is not a valid text form.
        if self.place != place { return nil }
    }

    /// The text form.
    public var description: String { "\(effect.text)@\(place.text)" }

    /// Decodes the text form.
    public init(from decoder: any Decoder) throws {
        self = try Self.decode(from: decoder)
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        try encodeText(to: encoder)
    }
}

extension Fault.Place {
    fileprivate init?(text: Substring) {
        switch text {
        case "send": self = .beforeSending
        case "head": self = .head
        case "end": self = .end
        default:
            guard let count = Int(text), count >= 0 else { return nil }
            self = .byte(count)
        }
    }

    fileprivate var text: String {
        switch self {
        case .beforeSending: "send"
        case .head: "head"
        case .byte(let count): String(count)
        case .end: "end"
        }
    }
}

extension Fault.Effect {
    private static let names: [(name: String, effect: Self)] = [
        ("refused", .refused), ("reset", .reset), ("timeout", .timeout), ("stall", .stall), ("truncated", .truncated),
        ("malformed", .malformed), ("garbage", .garbage),
    ]

    fileprivate init?(text: Substring) {
        if let known = Self.names.first(where: { $0.name == text }) {
            self = known.effect
            return
        }
        let numbers = text.split(separator: "+", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(numbers.count), let status = numbers[0] else { return nil }
        guard numbers.count == 2 else {
            self = .status(HTTPStatus(rawValue: status))
            return
        }
        guard let wait = numbers[1], wait >= 0 else { return nil }
        self = .status(HTTPStatus(rawValue: status), retryAfter: .seconds(wait))
    }

    fileprivate var text: String {
        guard case .status(let status, let wait) = self else {
            return Self.names.first { $0.effect == self }?.name ?? ""
        }
        return "\(status.rawValue)" + (wait.map { "+\($0.components.seconds)" } ?? "")
    }
}

extension LosslessStringConvertible {
    /// Decodes a value from its text.
    static func decode(from decoder: any Decoder) throws -> Self {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a \(Self.self)")
        }
        return value
    }

    func encodeText(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
