// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// An error of a loopback connection, or of a wait for one.
package enum LoopbackError: Error, Hashable {
    /// The peer has closed or reset the connection.
    case peerGone

    /// The server was stopped while the script was running.
    case serverStopped

    /// The script itself has already closed or reset this connection.
    case connectionClosed

    /// The peer sent bytes that are not an HTTP/1.1 request.
    case malformedRequest(String)

    /// A wait has timed out. The text names what did not happen and how long the wait was.
    case timedOut(String)

    /// A system call failed with this error number.
    case system(call: String, code: Int32)
}

extension LoopbackError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .peerGone: "The peer has closed or reset the connection."
        case .serverStopped: "The loopback server was stopped."
        case .connectionClosed: "This side has already closed or reset the connection."
        case .malformedRequest(let reason): "The peer sent an invalid HTTP/1.1 request: \(reason)."
        case .timedOut(let what): "\(what)."
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code))) (errno \(code))."
        }
    }
}
