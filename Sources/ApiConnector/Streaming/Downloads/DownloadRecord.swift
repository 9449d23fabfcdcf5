// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a part file is the beginning of; kept beside it, so that a later run can go on.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// Where it comes from, with secrets replaced: none is written to the disk, and one that changes with each call,
    /// such as a signature, does not are in the way.
    let url: String

    /// The strong validator of the version, as `If-Range` takes it.
    let validator: String

    /// The length of the whole; nil where the server does not say.
    let totalByteCount: Int?

    init(url: String, validator: String, totalByteCount: Int?) {
        self.url = url
        self.validator = validator
        self.totalByteCount = totalByteCount
    }
}
