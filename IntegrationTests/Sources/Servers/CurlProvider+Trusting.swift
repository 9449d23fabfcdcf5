// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
public import ApiConnector
import Foundation

extension CurlProvider {
    /// A provider that trusts one certificate and ignores the environment's proxies.
    public static func trusting(
        _ authority: URL?,
        _ configure: (inout CurlConfiguration) -> Void = { _ in }
    ) -> CurlProvider {
        var configuration = CurlConfiguration()
        configuration.certificateAuthorityFile = authority
        configuration.proxy = .none
        configure(&configuration)
        return CurlProvider(configuration: configuration)
    }
}
#endif
