// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Array where Element == URLQueryItem {
    /// Encodes a value's parts as query items, in the style of a ``FormEncoding``.
    ///
    /// In a router, use ``ApiQuery/encoding(_:as:)``, which needs no `try`.
    ///
    /// - Throws: ``ApiConnectorError`` of kind `.encodingFailed`, with the type and the coding path.
    /// - Complexity: O(*n*) in the size of the value; O(*n* log *n*) in the size of a dictionary or a set.
    public init(encoding value: some Encodable, as encoding: FormEncoding = .standard) throws(ApiConnectorError) {
        self = try ApiConnectorError.inQuery(of: type(of: value)) {
            try FormEncoder.items(of: value, as: encoding).written(with: nil)
        }
    }
}

extension ApiConnectorError {
    /// Runs a closure that encodes a query's value; an error names the value's type.
    ///
    /// An error of this type from the value's own `encode(to:)` stays as it is.
    static func inQuery<Result>(of type: Any.Type, _ make: () throws -> Result) throws(ApiConnectorError) -> Result {
        do {
            return try make()
        } catch let error as ApiConnectorError {
            throw error
        } catch {
            throw ApiConnectorError(
                .encodingFailed,
                at: .url,
                "the query, a value of type \(type), does not encode: \(CodingText.describe(error))",
                underlying: error
            )
        }
    }
}
