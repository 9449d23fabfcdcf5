// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

extension Origin: CustomStringConvertible {
    /// Scheme, host and port, as a URL begins.
    var description: String {
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        return "\(scheme.rawValue)://\(isAddress ? "[\(host)]" : host):\(port)"
    }
}
