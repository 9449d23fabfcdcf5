// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What stands for a value that is not there: nil of an optional type, nothing of any other.
enum AbsentValue {
    static func of<Value>(_ type: Value.Type) -> Value? {
        (type as? any OptionalValue.Type)?.absent as? Value
    }
}

/// Lets generic code ask whether a type is an optional, and for its nil.
private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Self { .none }
}
