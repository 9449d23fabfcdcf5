// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What is known of a body so that the rest of it can be asked for when it breaks off (RFC 9110, section 14).
struct RangeResumption: Sendable {
    /// Why the rest cannot be asked for; nil where it can.
    let obstacle: String?

    private let validator: String

    /// - Parameter response: The one to the first request.
    init(_ response: ApiResponse) {
        let validator = Validator(response.headers)
        self.validator = validator?.text ?? ""
        obstacle =
            if response.request.method != .get {
                "only a GET can ask for a range, and this was a \(response.request.method)"
            } else if response.request.headers.contains(.range) {
                "the request has a Range field of its own"
            } else if let coding = response.contentCoding {
                "the body came in the coding \(coding), whose bytes are not those of the records"
            } else if response.headers["Accept-Ranges"]?.lowercased() == "none" {
                "the server sends no ranges"
            } else if validator?.isStrong != true {
                "the response has no strong ETag or Last-Modified, so a changed body could not be told"
            } else {
                nil
            }
    }

    /// What the first request and every other one needs.
    static func prepare(_ request: inout ApiRequest) {
        // The bytes of a compressed body are not those of its records.
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
    }

    /// Asks for the body from an offset on, if it is still the same.
    func ask(for offset: Int, in request: inout ApiRequest) {
        Self.prepare(&request)
        request.headers[.range] = "bytes=\(offset)-"
        request.headers[.ifRange] = validator
    }

    /// Whether a response to that request is the rest; false where the body had come to its end already.
    ///
    /// - Throws: ``ApiConnectorError`` for any other response.
    func hasRest(_ answer: StreamedAnswer, from offset: Int) async throws(ApiConnectorError) -> Bool {
        let response = answer.response
        let field = response.headers[.contentRange]
        let range = field.flatMap { ContentRange($0) }
        func unfit(_ kind: ApiConnectorError.Kind, _ fault: String) -> ApiConnectorError {
            let detail = "the stream broke off at byte \(offset) of the body and cannot be resumed: \(fault)"
            return ApiConnectorError(kind, at: .response, detail, response: response, body: Data())
        }
        switch response.status {
        case 206:
            if let coding = response.contentCoding {
                throw unfit(.malformedResponse, "the rest came in the coding \(coding)")
            }
            if let new = Validator(response.headers)?.text, new != validator {
                throw unfit(.malformedResponse, "the rest is of another version, \(new), and not of \(validator)")
            }
            guard let bytes = range?.range, bytes.lowerBound == offset,
                bytes.upperBound == range?.totalByteCount ?? bytes.upperBound
            else {
                let shown = field.map { "with the Content-Range \"\($0)\"" } ?? "without a Content-Range"
                throw unfit(.malformedResponse, "the server answered \(response.status) \(shown)")
            }
            return true
        case 416 where range?.totalByteCount == offset:
            return false
        default:
            // What the call does not accept fails as it would at first.
            _ = try await answer.accepted()
            let reason = "because it has changed or because the server sends no ranges"
            throw unfit(.unacceptableStatus, "the server answered \(response.status) and sent the whole, \(reason)")
        }
    }
}

extension ApiResponse {
    /// How the body came compressed; nil for not at all.
    fileprivate var contentCoding: String? {
        headers.values(.contentEncoding).first { $0.lowercased() != "identity" }
    }
}
