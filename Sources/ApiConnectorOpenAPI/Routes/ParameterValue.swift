// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A value that can be a parameter: in a path, a query, a header field, a cookie or a form.
///
/// Texts, numbers, dates, lists and dictionaries are such values. A type that is `Encodable` or
/// `CustomStringConvertible` needs only the conformance: its members are those of its JSON, its text is its description.
public nonisolated protocol ParameterValue {
    /// The value as text.
    var parameterText: ParameterText { get }
}

extension ParameterValue where Self: Encodable {
    /// The value as JSON encodes it.
    public var parameterText: ParameterText {
        do {
            let data = try JSONEncoder().encode(self)
            return try JSONDecoder().decode(JSONValue.self, from: data).parameterText
        } catch {
            return .unencodable(error)
        }
    }
}

extension ParameterValue where Self: CustomStringConvertible {
    /// The description.
    public var parameterText: ParameterText { .text(description) }
}

extension ParameterValue where Self: CustomStringConvertible, Self: Encodable {
    /// The description.
    public var parameterText: ParameterText { .text(description) }
}

extension ParameterText: ParameterValue {
    /// The text itself.
    public var parameterText: ParameterText { self }
}

extension String: ParameterValue {}
extension Bool: ParameterValue {}
extension Int: ParameterValue {}
extension Int32: ParameterValue {}
extension Int64: ParameterValue {}
extension UInt64: ParameterValue {}
extension Double: ParameterValue {}
extension Decimal: ParameterValue {}

extension UUID: ParameterValue {
    /// The UUID as RFC 9562 writes it.
    public var parameterText: ParameterText { .text(uuidString.lowercased()) }
}

extension URL: ParameterValue {
    /// The whole URL.
    public var parameterText: ParameterText { .text(absoluteString) }
}

extension Data: ParameterValue {
    /// Base64.
    public var parameterText: ParameterText { .text(base64EncodedString()) }
}

extension Date: ParameterValue {
    /// The date as RFC 3339 writes it.
    public var parameterText: ParameterText { .text(DateTime(self).description) }
}

extension Optional: ParameterValue where Wrapped: ParameterValue {
    /// The value; an empty text for nil.
    public var parameterText: ParameterText { self?.parameterText ?? .text("") }
}

extension Array: ParameterValue where Element: ParameterValue {
    /// The elements in order.
    public var parameterText: ParameterText { .list(map(\.parameterText)) }
}

extension Dictionary: ParameterValue where Key == String, Value: ParameterValue {
    /// The values in the order of their names.
    public var parameterText: ParameterText {
        .members(sorted { $0.key < $1.key }.map { ($0.key, $0.value.parameterText) })
    }
}

extension JSONValue: ParameterValue {
    /// The value without quotes, and an empty text for null.
    public var parameterText: ParameterText {
        switch self {
        case .null: .text("")
        case .string(let text): .text(text)
        case .array(let values): values.parameterText
        case .object(let values): values.parameterText
        case .bool, .number: .text(description)
        }
    }
}
