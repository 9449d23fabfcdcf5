// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// The checks that a response has to pass before its body is decoded.
///
/// ```swift
/// let options = CallOptions(validation: .standard.or(.status(404)))
/// ```
public struct ResponseValidation: Sendable {
    /// The check; its second argument is nil if the body has not arrived yet, and checks of the body then pass.
    private let check: @Sendable (ApiResponse, Data?) throws(ApiConnectorError) -> Void

    /// Whether a check may reject the body of a response whose head was accepted.
    let looksIntoBody: Bool

    /// Makes a check from a closure that gets the response and its collected body.
    ///
    /// If the closure throws an error, the call fails with this error. For a stream, the closure gets the first chunk.
    /// If the closure throws an error for this chunk, it is called again with up to 1 MiB of the body. For a body that
    /// is larger or of unknown size, only the data that arrives within a second is included.
    ///
    /// The closure does not get the rest of a body that resumes a download or a stream of lines: it would take the rest
    /// for a whole body. So it never checks the file of a download whose beginning is from an earlier call without this
    /// check.
    public init(_ check: @escaping @Sendable (ApiResponse, Data) throws(ApiConnectorError) -> Void) {
        self.init(looksIntoBody: true) { (response, body) throws(ApiConnectorError) in
            if let body { try check(response, body) }
        }
    }

    private init(
        looksIntoBody: Bool,
        _ check: @escaping @Sendable (ApiResponse, Data?) throws(ApiConnectorError) -> Void
    ) {
        self.looksIntoBody = looksIntoBody
        self.check = check
    }

    /// Status 200 to 299 and a media type that the request accepts; the default.
    public static let standard = status(200..<300).and(mediaType)

    /// No checks.
    public static let unchecked = ResponseValidation(looksIntoBody: false) { (_, _) throws(ApiConnectorError) in }

    /// Accepts a range of statuses; fails with kind `.unacceptableStatus`.
    public static func status(_ accepted: Range<Int>) -> ResponseValidation {
        status("\(accepted.lowerBound) to \(accepted.upperBound - 1)") { accepted.contains($0.rawValue) }
    }

    /// Accepts the given statuses; fails with kind `.unacceptableStatus`.
    public static func status(_ accepted: HTTPStatus...) -> ResponseValidation {
        let names = accepted.map { String($0.rawValue) }.joined(separator: ", ")
        return status(names) { accepted.contains($0) }
    }

    /// Accepts the media types of the request's `Accept` field; fails with kind `.unacceptableMediaType`.
    ///
    /// It accepts a response without a body or without a `Content-Type`. If the request accepts a JSON type, it accepts
    /// any JSON type.
    public static let mediaType = ResponseValidation(looksIntoBody: false) {
        (response, body) throws(ApiConnectorError) in
        guard !(body?.isEmpty ?? response.hasNoBody), let text = response.headers[.contentType] else { return }
        // In the usual case, the type equals the `Accept` field, and parsing is not necessary.
        if text == response.request.headers[.accept], ByteSet.pathText.containsAll(of: text) { return }
        guard let mediaType = MediaType(text) else { return }
        let accept = response.request.headers.values(.accept).joined(separator: ", ")
        let ranges = MediaType.ranges(in: accept)
        guard !ranges.isEmpty, !ranges.contains(where: mediaType.isAccepted) else { return }
        throw ApiConnectorError(
            .unacceptableMediaType,
            at: .validation,
            "the server answered \(response.status) with a body of type \(mediaType), but \(accept) was requested",
            response: response,
            body: body ?? Data()
        )
    }

    /// Accepts responses that pass both checks; otherwise the first failure is thrown.
    public func and(_ other: ResponseValidation) -> ResponseValidation {
        ResponseValidation(looksIntoBody: looksIntoBody || other.looksIntoBody) {
            (response, body) throws(ApiConnectorError) in
            try check(response, body)
            try other.check(response, body)
        }
    }

    /// Accepts responses that pass either check; otherwise the failure of the first check is thrown.
    public func or(_ other: ResponseValidation) -> ResponseValidation {
        ResponseValidation(looksIntoBody: looksIntoBody || other.looksIntoBody) {
            (response, body) throws(ApiConnectorError) in
            do throws(ApiConnectorError) {
                try check(response, body)
            } catch let first {
                do throws(ApiConnectorError) { try other.check(response, body) } catch { throw first }
            }
        }
    }

    /// - Parameter body: The body; nil if it has not arrived yet, so that checks of the body pass.
    func validate(_ response: ApiResponse, _ body: Data?) throws(ApiConnectorError) {
        try check(response, body)
    }

    private static func status(
        _ names: String,
        _ isAccepted: @escaping @Sendable (HTTPStatus) -> Bool
    ) -> ResponseValidation {
        ResponseValidation(looksIntoBody: false) { (response, body) throws(ApiConnectorError) in
            guard !isAccepted(response.status) else { return }
            throw ApiConnectorError(
                .unacceptableStatus,
                at: .validation,
                "the server answered \(response.status), and only \(names) are accepted",
                response: response,
                body: body ?? Data()
            )
        }
    }
}

extension MediaType {
    /// Whether a call that accepts a media range accepts this type.
    ///
    /// A range that is a JSON type includes all JSON types.
    func isAccepted(by range: MediaType) -> Bool { matches(range) || isJSON && range.isJSON }
}

extension ApiResponse {
    /// Whether the head says that there is no body.
    fileprivate var hasNoBody: Bool { forbidsBody || headers[.contentLength] == "0" }
}
