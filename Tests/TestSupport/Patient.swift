// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

package import ApiConnector

extension ConnectionConfiguration {
    /// Without time limits: a machine that is busy with other tests is not a server that stalls.
    package static let patient = ConnectionConfiguration(timeouts: .unlimited)
}

#if Curl && os(Linux)
extension CurlConfiguration {
    /// Connects for up to ten minutes, because the loop's thread and a server's process share the machine with other
    /// tests.
    package static var patient: CurlConfiguration {
        var configuration = CurlConfiguration()
        configuration.connectTimeout = .seconds(600)
        return configuration
    }
}
#endif
