// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension DownloadRecord {
    /// What can be resumed of a whole response; nil for nothing.
    init?(_ url: String, _ answer: StreamedAnswer) {
        guard answer.rangeObstacle == nil, let validator = Validator(answer.response.headers) else { return nil }
        self.init(url: url, validator: validator.text, totalByteCount: answer.response.wholeByteCount)
    }
}
