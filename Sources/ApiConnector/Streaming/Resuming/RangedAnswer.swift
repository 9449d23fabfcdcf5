// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a response is to a request for the rest of a body (RFC 9110, section 14).
enum RangedAnswer: Equatable {
    /// The rest, of the same version, from the right byte on to the end.
    case rest
    /// The body ends before that byte: there is no rest.
    case nothing
    /// That byte is behind the end of another version.
    case outOfRange
    /// Its own answer: the whole, or a refusal.
    case whole
    /// A part that is not the rest, and why.
    case unfit(String)

    /// - Parameters:
    ///   - offset: From which byte on it was asked for.
    ///   - validator: Of which version.
    ///   - totalByteCount: How long the whole is; nil where nobody has said it before.
    init(_ response: ApiResponse, from offset: Int, of validator: String, totalByteCount: Int?) {
        let field = response.headers[.contentRange]
        let range = field.flatMap { ContentRange($0) }
        switch response.status {
        case 206:
            // Where nobody says how long the whole is, the end of a part need not be that of the whole.
            let total = range?.totalByteCount ?? totalByteCount
            if let coding = response.contentCoding {
                self = .unfit("the rest has the content coding \(coding)")
            } else if let new = Validator(response.headers)?.text, new != validator {
                self = .unfit("the rest is of another version, \(new), not of \(validator)")
            } else if let bytes = range?.range, bytes.lowerBound == offset, bytes.upperBound == total,
                total == totalByteCount ?? total
            {
                self = .rest
            } else {
                let shown = field.map { "with the Content-Range \"\($0)\"" } ?? "without a Content-Range"
                self = .unfit("the server answered \(response.status) \(shown)")
            }
        case 416: self = range?.totalByteCount == offset ? .nothing : .outOfRange
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
