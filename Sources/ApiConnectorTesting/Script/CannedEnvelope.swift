// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// An envelope that a test double can also write.
///
/// So a test can declare canned values without the envelope.
///
/// ```swift
/// extension StatusEnvelope: CannedEnvelope {
///     static func body(holding value: Data) -> Data { Data(#"{"result":"#.utf8) + value + Data("}".utf8) }
///     static func body(reporting failure: Data) -> Data { failure }
/// }
/// ```
public protocol CannedEnvelope: ApiEnvelope {
    /// The body around a value's JSON.
    static func body(holding value: Data) -> Data

    /// The body around a failure's JSON.
    static func body(reporting failure: Data) -> Data
}

extension BareEnvelope: CannedEnvelope {
    /// Returns the value's JSON unchanged, because there is no envelope.
    public static func body(holding value: Data) -> Data { value }

    /// Returns the failure's JSON unchanged, because there is no envelope.
    public static func body(reporting failure: Data) -> Data { failure }
}

extension DataEnvelope: CannedEnvelope {
    /// `{"data": …}`.
    public static func body(holding value: Data) -> Data { object("data", value) }

    /// `{"error": …}`.
    public static func body(reporting failure: Data) -> Data { object("error", failure) }
}

extension JSONAPIEnvelope: CannedEnvelope {
    /// `{"data": …}`.
    public static func body(holding value: Data) -> Data { object("data", value) }

    /// `{"errors": […]}`.
    public static func body(reporting failure: Data) -> Data { object("errors", failure) }
}

private func object(_ key: String, _ value: Data) -> Data {
    Data("{\"\(key)\":".utf8) + value + Data("}".utf8)
}
