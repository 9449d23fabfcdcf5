// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// The file of trusted certificates that is read, and the time of reading.
struct CurlAuthoritiesTests {
    @Test func theDefaultIsAFileIfLibcurlCachesItsAuthorities() throws {
        guard CurlRuntime.keepsAuthorities, CurlOpenSSL.version != nil else { return }
        guard CurlAuthorities.usualPaths.contains(where: FileManager.default.fileExists(atPath:)) else { return }
        let path = try #require(CurlConfiguration().authorityPath)
        var isFolder: ObjCBool = true
        #expect(FileManager.default.fileExists(atPath: path, isDirectory: &isFolder))
        #expect(!isFolder.boolValue)
    }

    @Test func configuredFilesTakePrecedence() {
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = URL(filePath: "/own.pem")
        #expect(configuration.authorityPath == "/own.pem")
    }

    @Test func libcurlsDefaultTakesPrecedenceOverTheUsualFiles() {
        #expect(CurlAuthorities.path(named: "/built/in.pem") { _ in true } == "/built/in.pem")
        #expect(
            CurlAuthorities.path(named: "/built/in.pem") { $0.hasPrefix("/etc/pki") }
                == "/etc/pki/tls/certs/ca-bundle.crt"
        )
        #expect(CurlAuthorities.path(named: nil) { _ in true } == "/etc/ssl/certs/ca-certificates.crt")
        #expect(CurlAuthorities.path(named: "/built/in.pem") { _ in false } == nil)
    }

    @Test(arguments: [
        (0, 0), (1001, 0), (1002, 1), (2001, 1), (2002, 2), (86_399_000, 86_398), (86_400_002, 86_400),
        (900_000_000, 86_400),
    ])
    func authoritiesReadBeforeAChangeAreOutdated(_ milliseconds: Int, _ seconds: Int) {
        #expect(CurlAuthorities.Reuse(afterChange: milliseconds).seconds == seconds)
    }

    @Test func noSessionOutlivesAChange() {
        #expect(!CurlAuthorities.Reuse(afterChange: 7 * 86_400_000).allowsSessions)
        #expect(CurlAuthorities.Reuse(afterChange: 7 * 86_400_000 + 1).allowsSessions)
    }

    @Test func noticesEachChangeOfAFile() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "ca.pem")
        try Data("a".utf8).write(to: file)
        #expect(CurlAuthorities.reuse(of: file.path) == .all)
        #expect(CurlAuthorities.reuse(of: file.path) == .all)
        try Data("b".utf8).write(to: file, options: .atomic)
        #expect(!CurlAuthorities.reuse(of: file.path).allowsSessions)
        #expect(!CurlAuthorities.reuse(of: file.path).allowsSessions)
        try FileManager.default.removeItem(at: file)
        #expect(CurlAuthorities.reuse(of: file.path) == .all)
    }

    /// Each call opens a connection, and may resume the session of the one before.
    @Test(arguments: ["tls1_2", "tls1_3"]) func aRenewedFileIsRead(_ version: String) async throws {
        let (right, wrong) = (try TLSCertificates(), try TLSCertificates())
        let server = try TLSServer(right, "server", options: "-\(version)")
        let file = right.folder.appending(path: "bundle.pem")
        var configuration = CurlConfiguration.patient
        configuration.certificateAuthorityFile = file
        let provider = CurlProvider(configuration: configuration)
        for round in 0..<3 {
            try Data(contentsOf: wrong.authority).write(to: file, options: .atomic)
            let error = await #expect(throws: ApiConnectorError.self, "round \(round)") {
                _ = try await provider.response(for: ApiRequest(url: server.url))
            }
            #expect(error?.kind == .secureConnectionFailed)
            try Data(contentsOf: right.authority).write(to: file, options: .atomic)
            for _ in 0..<2 {
                #expect(try await provider.response(for: ApiRequest(url: server.url)).status == 200)
            }
        }
    }
}
#endif
