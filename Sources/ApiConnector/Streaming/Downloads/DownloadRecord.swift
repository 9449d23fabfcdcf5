// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a part file is the beginning of; kept beside it, so that a later run can go on.
struct DownloadRecord: Codable, Sendable, Hashable {
    /// Where it comes from, with secrets replaced: none is written to the disk, and one that changes with each call, such
    /// as a signature, does not stand in the way.
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

    /// What can be resumed of a whole response; nil for nothing.
    init?(_ url: String, _ answer: StreamedAnswer) {
        guard answer.rangeObstacle == nil, let validator = Validator(answer.response.headers) else { return nil }
        self.init(url: url, validator: validator.text, totalByteCount: answer.response.wholeByteCount)
    }
}

/// What a response is to a request for the rest of a file.
enum RangedAnswer: Equatable {
    /// The rest, of the same version and from the right byte on.
    case rest
    /// An answer of its own: the whole file, or a refusal.
    case whole
    /// Neither: the file has to be asked for as a whole.
    case useless

    init(_ response: ApiResponse, from offset: Int, of record: DownloadRecord) {
        switch response.status {
        case 206:
            let range = response.headers[.contentRange].flatMap { ContentRange($0) }
            let total = range?.totalByteCount ?? record.totalByteCount
            let isSame = Validator(response.headers).map { $0.text == record.validator } ?? true
            let fits =
                range?.range?.lowerBound == offset && total == record.totalByteCount ?? total
                && isSame && response.contentCoding == nil
            self = fits ? .rest : .useless
        case 416: self = .useless
        default: self = .whole
        }
    }
}

extension ApiResponse {
    /// The length of a whole file, where the head says it.
    var wholeByteCount: Int? {
        guard contentCoding == nil, !headers.contains("Transfer-Encoding"), let text = headers[.contentLength],
            ByteSet.decimalDigits.containsAll(of: text)
        else { return nil }
        return Int(text)
    }
}
