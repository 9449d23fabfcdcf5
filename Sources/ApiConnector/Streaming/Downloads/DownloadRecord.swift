// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Describes the download of a part file; stored next to the file, so that a later run can resume it.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// The URL with secrets replaced.
    ///
    /// So no secret is written to the disk, and a secret that changes with each call, such as a signature, does not
    /// prevent resuming.
    let url: String

    /// The strong validator of the version, for `If-Range`.
    let validator: String

    /// The length of the whole file; nil if the server does not announce it.
    let totalByteCount: Int?

    init(url: String, validator: String, totalByteCount: Int?) {
        self.url = url
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}
