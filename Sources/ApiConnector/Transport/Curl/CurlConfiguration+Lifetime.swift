// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

extension CurlConfiguration {
    /// Sets the maximum lifetime of a connection; libcurl before 7.80 ignores it.
    func applyLifetime(to easy: CurlEasy) {
        guard let lifetime = maximumConnectionLifetime else { return }
        let (seconds, attoseconds) = lifetime.components
        let wholeSeconds = seconds.addingReportingOverflow(attoseconds > 0 ? 1 : 0).partialValue
        // For libcurl, 0 means no limit.
        easy.set(CCURLOPT_MAXLIFETIME_CONN, Int(clamping: min(max(wholeSeconds, 1), 1_000_000_000)))
    }
}

#endif
