// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The key of a value that a call carries to the providers.
///
/// ```swift
/// enum Tenant: RequestValueKey {
///     static let defaultValue = "none"
/// }
///
/// let options = CallOptions(values: RequestValues().setting(Tenant.self, to: "acme"))
/// // In a provider:
/// request.headers["X-Tenant"] = request.values[Tenant.self]
/// ```
public protocol RequestValueKey {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The value of a request for which no value was set.
    static var defaultValue: Value { get }
}
