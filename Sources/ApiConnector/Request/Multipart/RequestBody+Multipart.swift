// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension RequestBody {
    /// A form in parts, as browsers send forms with files: `multipart/form-data` (RFC 7578).
    ///
    /// ```swift
    /// .multipart([.text("Ted", name: "title"), .file(photo, name: "photo", mediaType: MediaType("image", "jpeg"))])
    /// ```
    ///
    /// Each part is read when its turn to be sent has come; nothing is put together before, in memory or on disk. The
    /// length is known when that of each part is, and it can be sent again when each part can. A part that cannot be
    /// sent, such as a file that is not there, fails the call with kind `.encodingFailed` before anything is sent.
    public static func multipart(_ parts: [MultipartPart]) -> RequestBody {
        var generator = SystemRandomNumberGenerator()
        return multipart(parts, using: &generator)
    }

    /// As ``multipart(_:)``, with your own boundary generator's making, such as for a test that compares bytes.
    public static func multipart(
        _ parts: [MultipartPart],
        using generator: inout some RandomNumberGenerator
    ) -> RequestBody {
        RequestBody(multipart: MultipartBody(parts, using: &generator))
    }
}
