// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// What a connection checks of a response before it looks into the body.
///
/// ```swift
/// let options = CallOptions(validation: .standard.or(.status(404)))
/// ```
public struct ResponseValidation: Sendable {
    /// A nil body is one that has not come yet; what needs it passes.
    private let check: @Sendable (ApiResponse, Data?) throws(ApiConnectorError) -> Void

    /// Whether a head that passes may be refused with its body.
    let looksIntoBody: Bool

    /// Makes a check of a closure over the response and its collected body.
    ///
    /// The call fails with what the closure throws. Of a stream the closure sees the first chunk, and if it throws
    /// then, up to 1 MiB of what comes within a second.
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

    /// No check at all.
    public static let unchecked = ResponseValidation(looksIntoBody: false) { (_, _) throws(ApiConnectorError) in }

    /// A status within a range, else kind `.unacceptableStatus`.
    public static func status(_ accepted: Range<Int>) -> ResponseValidation {
        status("\(accepted.lowerBound) to \(accepted.upperBound - 1)") { accepted.contains($0.rawValue) }
    }

    /// One of some statuses, else kind `.unacceptableStatus`.
    public static func status(_ accepted: HTTPStatus...) -> ResponseValidation {
        let names = accepted.map { String($0.rawValue) }.joined(separator: ", ")
        return status(names) { accepted.contains($0) }
    }

    /// A media type that the request's `Accept` field names, else kind `.unacceptableMediaType`.
    ///
    /// A response without a body or without `Content-Type` passes, and any JSON type where one is accepted.
    public static let mediaType = ResponseValidation(looksIntoBody: false) {
        (response, body) throws(ApiConnectorError) in
        guard !(body?.isEmpty ?? response.hasNoBody), let text = response.headers[.contentType] else { return }
        // The usual case needs no reading: what came is, byte for byte, all that was asked for.
        if text == response.request.headers[.accept], ByteSet.pathText.containsAll(of: text) { return }
        guard let mediaType = MediaType(text) else { return }
        let accept = response.request.headers.values(.accept).joined(separator: ", ")
        let ranges = MediaType.ranges(in: accept)
        guard !ranges.isEmpty, !ranges.contains(where: mediaType.isAccepted) else { return }
        throw ApiConnectorError(
            .unacceptableMediaType,
            at: .validation,
            "the server answered \(response.status) with a body of type \(mediaType), and \(accept) was asked for",
            response: response,
            body: body ?? Data()
        )
    }

    /// Passes what passes both; the first failure counts.
    public func and(_ other: ResponseValidation) -> ResponseValidation {
        ResponseValidation(looksIntoBody: looksIntoBody || other.looksIntoBody) {
            (response, body) throws(ApiConnectorError) in
            try check(response, body)
            try other.check(response, body)
        }
    }

    /// Passes what passes either; the failure of the first counts.
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

    /// - Parameter body: Nil for one that has not come yet: what needs it passes.
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
    /// Whether a call that asks for a range accepts this type: any JSON type where it asks for one.
    func isAccepted(by range: MediaType) -> Bool { matches(range) || isJSON && range.isJSON }
}

extension ApiResponse {
    /// Whether the head says that no body comes.
    fileprivate var hasNoBody: Bool { forbidsBody || headers[.contentLength] == "0" }
}
