// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// A JSON number that is rounded only if necessary.
///
/// Integers and fractions of up to 38 digits are exact, which includes every `Int64` and `UInt64`. Other numbers are
/// the nearest double, as all numbers are in JavaScript. Two numbers are equal if their values are equal, regardless
/// of their form: `1`, `1.0` and `1e0`. A double has the value of its shortest text, so `0.1` is exactly a
/// tenth.
public struct JSONNumber: Sendable, Hashable {
    /// Each number has exactly one form: the first form that holds it exactly.
    ///
    /// One exception: a whole number that is not a 64-bit integer is a decimal, not a double, if its magnitude is below
    /// 2^128.
    ///
    /// `Int128` is not used: as the payload of an enum, it is stored at an address at which Swift 6.3.1's own
    /// `hashValue` crashes.
    private enum Form: Sendable, Hashable {
        case signed(Int64)
        case unsigned(UInt64)
        case double(Double)
        case decimal(Decimal)
    }

    private let form: Form

    /// Makes a number from an integer.
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

    /// Makes a number from a double; nil for NaN and infinity, which JSON does not have.
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

    /// Makes a number from a decimal; nil for NaN.
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

    /// From this value on, a decimal rounds integers.
    private static let decimalLimit = 0x1p128

    /// The number as an integer of the given type; nil if it has a fraction or does not fit.
    ///
    /// It is never rounded.
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
        // Foundation's conversion multiplies step by step and can miss the nearest double.
        case .decimal(let value): Double(value.description) ?? .nan
        }
    }

    /// The number as a decimal; nil if a decimal cannot hold it, for example `1e200`.
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
    /// The number as JSON text; a whole number has no fraction.
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
    /// Decodes a number, in an exact form if possible.
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

    /// Encodes the number in the form that holds it.
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
