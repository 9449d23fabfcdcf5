// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Signs requests, such as by AWS Signature Version 4 or HTTP Message Signatures (RFC 9421).
///
/// ```swift
/// struct BodyDigestSigner: RequestSigner {
///     let sign: @Sendable (Data) -> String
///
///     func sign(_ request: inout ApiRequest) async throws(ApiConnectorError) {
///         let body = try await request.body.collect(upTo: 1 << 20)
///         request.headers["X-Signature"] = sign(body)
///     }
/// }
/// ```
public protocol RequestSigner: Sendable {
    /// Names of header fields that it sets, whose values no text may show, beside those that ``Redactor/standard``
    /// knows; none by default.
    var secretHeaderNames: [HTTPHeaders.Name] { get }

    /// Signs a request that is ready to be sent: URL, header fields and encoded body are final.
    ///
    /// ``RequestBody/data()`` has the bytes of a body in memory, ``RequestBody/collect(upTo:)`` those of any; one that
    /// cannot be sent again is used up by that, and has to be set again.
    ///
    /// - Throws: ``ApiConnectorError``, which fails the call; nothing is sent.
    func sign(_ request: inout ApiRequest) async throws(ApiConnectorError)
}

extension RequestSigner {
    /// None.
    public var secretHeaderNames: [HTTPHeaders.Name] { [] }
}
