// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)

extension CurlHandle {
    /// The maximum size of a proxy's response to CONNECT, in bytes: 64 KiB.
    static let maximumTunnelByteCount = 64 * 1024

    /// libcurl's own limit, from 8.14 on.
    static let tooManyTunnelFields = "the proxy's response to CONNECT has more than 5000 fields, libcurl's limit"

    /// Whether libcurl may continue to prepare the connection, before the request is sent.
    ///
    /// libcurl reads a proxy's response to CONNECT byte by byte, without a limit and within one call, and reports
    /// progress after each byte. An endless response would block all transfers of the loop.
    func mayPrepareConnection() -> Bool {
        let isSent = CurlRuntime.asksBeforeSending ? sendCount > 0 : connection != nil
        guard !isSent, let transfer else { return true }
        preparationCount += 1
        if preparationCount > Self.maximumTunnelByteCount {
            transfer.refuse(
                .cannotConnect,
                "the proxy's response to CONNECT is longer than \(Self.maximumTunnelByteCount) bytes"
            )
            return false
        }
        // The loop only removes a canceled transfer after libcurl's call has returned. During the call, this function
        // therefore checks for a cancellation, at every 256th byte.
        return !preparationCount.isMultiple(of: 256) || !transfer.isOver
    }
}

#endif
