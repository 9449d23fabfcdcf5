// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests of certificates that change while a provider is in use.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
struct CertificateTests {
    private let nginx: Nginx

    init() throws {
        nginx = try Nginx()
    }

    @Test func aRenewedBundleIsReadForTheNextConnection() async throws {
        let bundle = nginx.files.appending(path: "bundle.pem")
        try Data(contentsOf: nginx.authority).write(to: bundle)
        let provider = CurlProvider.trusting(bundle)
        let response = try await get(over: provider)

        try nginx.renewCertificate()
        try nginx.reload(waitingForEndOf: #require(response.headers["X-Worker"]))
        let error = await #expect(throws: ApiConnectorError.self) { try await get(over: provider) }
        #expect(error?.kind == .secureConnectionFailed)

        try Data(contentsOf: nginx.authority).write(to: bundle, options: .atomic)
        #expect(try await get(over: provider).status == 200)
    }

    private func get(over provider: CurlProvider) async throws -> ApiResponse {
        try await provider.response(for: ApiRequest(url: nginx.secure("/small")))
    }
}
#endif
