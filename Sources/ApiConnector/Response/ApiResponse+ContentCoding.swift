// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// How the body is compressed; nil if it is not. The length of a compressed body says nothing about the delivered
    /// bytes.
    var contentCoding: String? {
        headers.values(.contentEncoding).first { $0.lowercased() != "identity" }
    }
}
