// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// The content coding of the body; nil if it is not compressed.
    ///
    /// The length of a compressed body differs from the number of delivered bytes.
    var contentCoding: String? {
        headers.values(.contentEncoding).first { $0.lowercased() != "identity" }
    }
}
