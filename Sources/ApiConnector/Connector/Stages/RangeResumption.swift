// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The data for requesting the rest of a body after a break (RFC 9110, section 14).
struct RangeResumption: Sendable {
    /// Why the rest cannot be requested; nil if it can.
    let obstacle: String?

    private let validator: String
    private let totalByteCount: Int?

    /// - Parameter answer: The response to the first request.
    init(_ answer: StreamedAnswer) {
        validator = Validator(answer.response.headers)?.text ?? ""
        totalByteCount = answer.response.wholeByteCount
        let hasRange = answer.response.request.headers.contains(.range)
        obstacle = answer.rangeObstacle ?? (hasRange ? "the request has its own Range field" : nil)
    }

    /// The header fields that ask for the body from an offset on, provided that the body has not changed.
    static func fields(from offset: Int, of validator: String) -> HTTPHeaders {
        [.range: "bytes=\(offset)-", .ifRange: validator]
    }

    /// The header fields that ask for this body from an offset on, provided that the body has not changed.
    func fields(from offset: Int) -> HTTPHeaders {
        Self.fields(from: offset, of: validator)
    }

    /// The chunks of the rest; empty if the body was already complete.
    ///
    /// - Throws: ``ApiConnectorError`` if the response does not contain the rest.
    func rest(
        _ answer: StreamedAnswer,
        from offset: Int
    ) async throws(ApiConnectorError) -> ResponseBody.AsyncIterator {
        let response = answer.response
        func unfit(_ kind: ApiConnectorError.Kind, _ fault: String) -> ApiConnectorError {
            let detail = "the stream broke off at byte \(offset) of the body and cannot be resumed: \(fault)"
            return ApiConnectorError(kind, at: .response, detail, response: response, body: Data())
        }
        switch RangedAnswer(response, from: offset, of: validator, totalByteCount: totalByteCount) {
        case .rest:
            return try answer.acceptedAsRest()
        case .nothing:
            return ResponseBody(Data()).makeAsyncIterator()
        case .unfit(let fault):
            throw unfit(.malformedResponse, fault)
        case .whole, .outOfRange:
            // If the call rejects this response, it fails with the same error as for a first response.
            _ = try await answer.accepted()
            let reason = "because it has changed or because the server does not support ranges"
            throw unfit(
                .unacceptableStatus,
                "the server answered \(response.status) and sent the whole resource, \(reason)"
            )
        }
    }
}

extension StreamedAnswer {
    /// Why the rest of the body cannot be requested after a break; nil if it can.
    var rangeObstacle: String? {
        // A resumption starts with the route again, so the method before the redirects counts, too.
        if let method = [request.method, response.request.method].first(where: { $0 != .get }) {
            "only a GET can request a range, and this was a \(method)"
        } else if let coding = response.contentCoding {
            "the body came in the coding \(coding), so the byte offsets of its records are unknown"
        } else if response.headers["Accept-Ranges"]?.lowercased() == "none" {
            "the server does not support ranges"
        } else if Validator(response.headers)?.isStrong != true {
            "the response has no strong ETag or Last-Modified, so a changed body could not be detected"
        } else {
            nil
        }
    }
}
