// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RequestBody {
    /// A form with parts, as browsers send forms with files: `multipart/form-data` (RFC 7578).
    ///
    /// ```swift
    /// .multipart([.text("Ted", name: "title"), .file(photo, name: "photo", mediaType: MediaType("image", "jpeg"))])
    /// ```
    ///
    /// Each part is read when it is sent, so the form is never assembled in memory or on disk. Its length is known if
    /// the length of each part is, and it can be sent again if each part can. If a part cannot be sent, for example
    /// because its file is missing, the call fails with kind `.encodingFailed` before anything is sent.
    public static func multipart(_ parts: [MultipartPart]) -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return multipart(parts, using: &generator)
    }

    /// Like ``multipart(_:)``, with your own random generator for the boundary, for example in a test that compares
    /// bytes.
    public static func multipart(
        _ parts: [MultipartPart],
        using generator: inout some RandomNumberGenerator
    ) -> RequestBody {
        RequestBody(multipart: MultipartBody(parts, using: &generator))
    }
}
