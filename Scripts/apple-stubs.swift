// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

// The APIs that the branches for Apple's systems use and Linux does not have, with the signatures of Apple's
// documentation. See Scripts/platforms.

/// A client's certificate and key.
public final class SecIdentity: Sendable {}
final class SecTrust {}
final class SecKey {}
final class CFError {}
// On Apple's systems, these two types are toll-free bridged.
typealias CFWriteStream = OutputStream

func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { nil }
func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<CFError?>?) -> NSData? { nil }
func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ queue: DispatchQueue!) {}

let NSURLAuthenticationMethodClientCertificate = ""
let F_FULLFSYNC: Int32 = 51

enum SHA256 {
    static func hash(data: Data) -> [UInt8] { [] }
}

extension Stream {
    static func getBoundStreams(
        withBufferSize bufferSize: Int,
        inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}

extension URLProtectionSpace {
    var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    convenience init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence) {
        self.init(user: "", password: "", persistence: persistence)
    }
}

class URLSessionTaskMetrics {
    var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
}

struct tls_protocol_version_t {
    var rawValue: UInt16
}

class URLSessionTaskTransactionMetrics {
    var fetchStartDate: Date? { nil }
    var domainLookupStartDate: Date? { nil }
    var domainLookupEndDate: Date? { nil }
    var connectStartDate: Date? { nil }
    var secureConnectionStartDate: Date? { nil }
    var secureConnectionEndDate: Date? { nil }
    var connectEndDate: Date? { nil }
    var requestStartDate: Date? { nil }
    var requestEndDate: Date? { nil }
    var responseStartDate: Date? { nil }
    var responseEndDate: Date? { nil }
    var networkProtocolName: String? { nil }
    var isReusedConnection: Bool { false }
    var negotiatedTLSProtocolVersion: tls_protocol_version_t? { nil }
    var remoteAddress: String? { nil }
    var remotePort: Int? { nil }
    var countOfRequestBodyBytesSent: Int64 { 0 }
    var countOfResponseHeaderBytesReceived: Int64 { 0 }
    var countOfResponseBodyBytesReceived: Int64 { 0 }
    var countOfResponseBodyBytesAfterDecoding: Int64 { 0 }
}
