// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

/// Signs requests, for example with AWS Signature Version 4 or HTTP Message Signatures (RFC 9421).
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
    /// The names of header fields that the signer sets and that must be redacted, in addition to those that
    /// ``Redactor/standard`` redacts; none by default.
    var secretHeaderNames: [HTTPHeaders.Name] { get }

    /// Signs a request that is ready to be sent: URL, header fields and encoded body are final.
    ///
    /// ``RequestBody/data()`` returns the bytes of a body in memory, and ``RequestBody/collect(upTo:)`` those of any
    /// body. The latter consumes a body that cannot be sent again; set the body again in this case.
    ///
    /// - Throws: ``ApiConnectorError``, which fails the call. Nothing is sent.
    func sign(_ request: inout ApiRequest) async throws(ApiConnectorError)
}

extension RequestSigner {
    /// No names.
    public var secretHeaderNames: [HTTPHeaders.Name] { [] }
}
