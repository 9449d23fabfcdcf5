// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A JSON number that is not rounded where it need not be.
///
/// Exact are integers and fractions of up to 38 digits, so every `Int64` and `UInt64`. What lies beyond is the nearest
/// double, as JavaScript reads every number. Two numbers are equal where their values are, however they were written:
/// `1`, `1.0` and `1e0`. A double is the number that its shortest text names, so `0.1` is a tenth.
public struct JSONNumber: Sendable, Hashable {
    /// Each number has one form alone: the first that holds it; a whole one is no double if a decimal holds it.
    ///
    /// No `Int128`: as the payload of an enum it lies at an address that Swift 6.3.1's own `hashValue` crashes on.
    private enum Form: Sendable, Hashable {
        case signed(Int64)
        case unsigned(UInt64)
        case double(Double)
        case decimal(Decimal)
    }

    private let form: Form

    /// Makes a number of an integer.
    public init(_ value: some FixedWidthInteger) {
        if let value = Int64(exactly: value) {
            form = .signed(value)
        } else if let value = UInt64(exactly: value) {
            form = .unsigned(value)
        } else if let decimal = Decimal(string: value.description), decimal.description == value.description {
            form = .decimal(decimal)
        } else {
            form = .double(Double(value))
        }
    }

    /// Makes a number of a double; nil for NaN and infinity, which JSON does not have.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        if let integer = Int64(exactly: value), integer.magnitude <= 1 << 53 {
            form = .signed(integer)
        } else if value.rounded() == value, abs(value) < Self.decimalLimit,
            let decimal = Decimal(string: value.description), let number = JSONNumber(decimal)
        {
            self = number
        } else {
            form = .double(value)
        }
    }

    /// Makes a number of a decimal; nil for NaN.
    public init?(_ value: Decimal) {
        guard value.isFinite else { return nil }
        let text = value.description
        let isWhole = !text.utf8.contains(UInt8(ascii: "."))
        if let integer = Int64(text) {
            form = .signed(integer)
        } else if let integer = UInt64(text) {
            form = .unsigned(integer)
        } else if let double = Double(text), !isWhole || abs(double) >= Self.decimalLimit,
            Decimal(string: double.description) == value
        {
            form = .double(double)
        } else {
            form = .decimal(value)
        }
    }

    /// From here on a decimal rounds integers.
    private static let decimalLimit = 0x1p128

    /// The number as an integer of a type; nil where it has a fraction or does not fit: never rounded.
    public func integer<Integer: FixedWidthInteger>(as type: Integer.Type = Integer.self) -> Integer? {
        switch form {
        case .signed(let value): Integer(exactly: value)
        case .unsigned(let value): Integer(exactly: value)
        case .double: nil
        case .decimal(let value): Integer(value.description)
        }
    }

    /// The nearest double.
    public var double: Double {
        switch form {
        case .signed(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .double(let value): value
        // Not by Foundation's conversion, which multiplies its way there and can miss the nearest.
        case .decimal(let value): Double(value.description) ?? .nan
        }
    }

    /// The number as a decimal; nil where a decimal cannot hold it, as `1e200`.
    public var decimal: Decimal? {
        switch form {
        case .signed(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .double(let value): Decimal(string: value.description)
        case .decimal(let value): value
        }
    }
}

extension JSONNumber: CustomStringConvertible {
    /// The number as JSON writes it; a whole one without a fraction.
    public var description: String {
        switch form {
        case .signed(let value): value.description
        case .unsigned(let value): value.description
        case .double(let value): value.description
        case .decimal(let value): value.description
        }
    }
}

extension JSONNumber: Codable {
    /// Reads a number, the exact forms first.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            form = .signed(value)
        } else if let value = try? container.decode(UInt64.self) {
            form = .unsigned(value)
        } else {
            let double = try container.decode(Double.self)
            let decimal = abs(double) < Self.decimalLimit ? try? container.decode(Decimal.self) : nil
            guard let number = decimal.flatMap(Self.init) ?? JSONNumber(double) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "JSON cannot represent the number \(double)"
                )
            }
            self = number
        }
    }

    /// Writes the number as the type that holds it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch form {
        case .signed(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        }
    }
}
