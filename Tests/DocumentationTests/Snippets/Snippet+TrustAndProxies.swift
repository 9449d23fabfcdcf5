// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

enum TrustAndProxies {
    static func trusts(_ authority: URL, _ proxy: URL, _ current: PublicKeyPin, _ reserve: PublicKeyPin) {
        var configuration = TransportConfiguration()
        configuration.certificateAuthorityFile = authority
        configuration.pinnedPublicKeys = [current, reserve]
        configuration.proxy = .url(proxy)
        configuration.cookies = .inMemory
        let provider = SystemProvider(configuration: configuration)
        _ = provider
    }

    static func pins(_ configuration: inout TransportConfiguration) {
        guard let current = PublicKeyPin(sha256: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") else { return }
        configuration.pinnedPublicKeys.insert(current)
    }

    static func showsACertificate(_ certificate: URL, _ key: URL, _ password: String) {
        var configuration = TransportConfiguration()
        configuration.clientCertificate = TransportConfiguration.ClientCertificate(
            certificateFile: certificate,
            keyFile: key,
            password: password
        )
    }

    #if Curl && os(Linux)
    static func setsOptionsOfLibcurl(_ configuration: TransportConfiguration) {
        var libcurl = CurlConfiguration(configuration)
        libcurl.maximumConnectionCountPerHost = 8
        let provider = CurlProvider(configuration: libcurl)
        _ = provider
    }
    #endif
}
