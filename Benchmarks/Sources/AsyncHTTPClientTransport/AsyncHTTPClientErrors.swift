// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Maps the client's errors to ``ApiConnectorError``.
enum AsyncHTTPClientErrors {
    private static let noConnection: Set<CInt> = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT]

    static func mapping(_ error: any Error, _ request: ApiRequest) -> any Error {
        if error is ApiConnectorError || error is CancellationError { return error }
        return ApiConnectorError(kind(of: error), String(describing: error), request: request, underlying: error)
    }

    private static func kind(of error: any Error) -> ApiConnectorError.Kind {
        switch error {
        case let error as HTTPClientError: kind(of: error)
        case let error as NIOConnectionError: error.connectionErrors.isEmpty ? .nameNotResolved : .cannotConnect
        case let error as HTTPParserError: error == .invalidEOFState ? .connectionLost : .malformedResponse
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .secureConnectionFailed
        case let error as IOError: noConnection.contains(error.errnoCode) ? .cannotConnect : .connectionLost
        case is ChannelError: .connectionLost
        default: .other
        }
    }

    private static func kind(of error: HTTPClientError) -> ApiConnectorError.Kind {
        switch error {
        case .cancelled: .cancelled
        case .remoteConnectionClosed: .connectionLost
        case .connectTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout: .cannotConnect
        case .readTimeout: .stalled
        case .deadlineExceeded: .timedOut
        case .invalidURL, .emptyHost, .emptyScheme: .invalidRequest
        case .bodyLengthMismatch: .encodingFailed
        default: .other
        }
    }
}
