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
    /// The names of the secret header fields that the signer sets; none by default.
    ///
    /// They are redacted in addition to the fields that ``Redactor/standard`` redacts.
    var secretHeaderNames: [HTTPHeaders.Name] { get }

    /// Signs a request that is ready to be sent: URL, header fields and encoded body are final.
    ///
    /// ``RequestBody/data()`` returns the bytes of a body in memory, and ``RequestBody/collect(upTo:)`` those of any
    /// body. If the body cannot be sent again, ``RequestBody/collect(upTo:)`` consumes it, so the signer has to set the
    /// body again.
    ///
    /// - Throws: ``ApiConnectorError``, which fails the call. Nothing is sent.
    func sign(_ request: inout ApiRequest) async throws(ApiConnectorError)
}

extension RequestSigner {
    /// No names.
    public var secretHeaderNames: [HTTPHeaders.Name] { [] }
}
