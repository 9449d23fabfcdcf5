// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The meaning of a response to a request for the rest of a body (RFC 9110, section 14).
enum RangedAnswer: Equatable {
    /// The rest of the same version, from the right byte to the end.
    case rest
    /// The body ends at the requested offset, so there is no rest. Its length and version are not in conflict with the
    /// first response.
    case nothing
    /// The server cannot deliver the rest, because it has another version.
    case outOfRange
    /// A response without a range: the whole body, or an error status.
    case whole
    /// A part that is not the rest, with the reason.
    case unfit(String)

    /// - Parameters:
    ///   - offset: The offset of the requested rest.
    ///   - validator: The validator of the requested version.
    ///   - totalByteCount: The length of the whole body; nil if it is not known yet.
    init(_ response: ApiResponse, from offset: Int, of validator: String, totalByteCount: Int?) {
        let field = response.headers[.contentRange]
        let range = field.flatMap { ContentRange($0) }
        switch response.status {
        case 206:
            // If the whole length is unknown, the end of a part may not be the end of the body.
            let total = range?.totalByteCount ?? totalByteCount
            if let coding = response.contentCoding {
                self = .unfit("the rest has the content coding \(coding)")
            } else if let fault = Self.versionFault(of: response.headers, from: validator) {
                self = .unfit(fault)
            } else if let bytes = range?.range, bytes.lowerBound == offset, bytes.upperBound == total,
                total == totalByteCount ?? total
            {
                self = .rest
            } else {
                let shown = field.map { "with the Content-Range \"\($0)\"" } ?? "without a Content-Range"
                self = .unfit("the server answered \(response.status) \(shown)")
            }
        case 416:
            let hasLength = range?.totalByteCount == offset && totalByteCount ?? offset == offset
            // This response may name no version.
            let isSameVersion = Self.version(in: response.headers, like: validator) ?? validator == validator
            self = hasLength && isSameVersion ? .nothing : .outOfRange
        default: self = .whole
        }
    }

    /// Why a part is not known to be of the requested version; nil if it is of that version.
    ///
    /// A part names the entity tag of its version, but may omit the date (RFC 9110, section 15.3.7). Without the tag,
    /// the part may be of another version, because some servers and proxies ignore `If-Range`.
    private static func versionFault(of headers: HTTPHeaders, from validator: String) -> String? {
        if let found = version(in: headers, like: validator) {
            return found == validator ? nil : "the rest is of another version, \(found), not of \(validator)"
        }
        guard validator.hasPrefix("\"") else { return nil }
        return "the rest has no ETag, so it may not be of the version \(validator)"
    }

    /// The field that names a response's version, valid or not; nil if the response has no such field.
    ///
    /// - Parameter validator: The entity tag or date to compare it with. A date is not compared with an entity tag.
    private static func version(in headers: HTTPHeaders, like validator: String) -> String? {
        headers[.etag] ?? (validator.hasPrefix("\"") ? nil : headers[.lastModified])
    }
}

extension ApiResponse {
    /// Throws if the response is a part of a body, and its request did not ask for a part.
    ///
    /// A 206 is only allowed after a `Range` field (RFC 9110, section 15.3.7). The caller would take the part for the
    /// whole body.
    ///
    /// A 206 that names no range of bytes is accepted, because its body is complete: some backends answer with a page of
    /// a list, or after a part of a batch has failed.
    func checkNotUnrequestedPart() throws(ApiConnectorError) {
        guard status == 206, !request.headers.contains(.range), namesRangeOfBytes else { return }
        let detail = "the server answered \(status), a part of the body, but the request has no Range field"
        throw ApiConnectorError(
            .malformedResponse,
            at: .response,
            detail,
            response: self,
            body: body.collected ?? Data()
        )
    }

    /// Each part of bytes has one of the two (RFC 9110, section 15.3.7).
    private var namesRangeOfBytes: Bool {
        headers[.contentRange]?.lowercased().hasPrefix("bytes") == true
            || headers[.contentType]?.lowercased().hasPrefix("multipart/byteranges") == true
    }

    /// The length of a complete file, if the head has it.
    var wholeByteCount: Int? {
        guard contentCoding == nil, !headers.contains("Transfer-Encoding"), let text = headers[.contentLength],
            ByteSet.decimalDigits.containsAll(of: text)
        else { return nil }
        return Int(text)
    }
}
