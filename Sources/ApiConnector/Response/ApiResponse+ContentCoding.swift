// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension ApiResponse {
    /// How the body came compressed; nil for not at all: its length then says nothing about the bytes that are handed
    /// out.
    var contentCoding: String? {
        headers.values(.contentEncoding).first { $0.lowercased() != "identity" }
    }
}
