// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

public import ApiConnector

/// A value that a multipart form sends as a file, as text or as JSON.
public nonisolated protocol FormValue: Sendable {
    /// The parts of the form with this name.
    func parts(named name: String, as mediaType: String?) -> [MultipartPart]
}
