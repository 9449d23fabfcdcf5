// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The value of an empty body: nil for an optional type; other types have none.
enum AbsentValue {
    static func of<Value>(_ type: Value.Type) -> Value? {
        (type as? any OptionalValue.Type)?.absent as? Value
    }
}

/// Lets generic code check whether a type is an optional, and get its nil.
private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Self { .none }
}
