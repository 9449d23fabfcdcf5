// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DownloadRecord {
    /// The record for resuming the download of a whole response; nil if the download cannot be resumed.
    init?(_ url: String, _ answer: StreamedAnswer) {
        guard answer.rangeObstacle == nil, let validator = Validator(answer.response.headers) else { return nil }
        self.init(url: url, validator: validator.text, totalByteCount: answer.response.wholeByteCount)
    }
}
