// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import ApiConnector
import TestSupport
import Testing

/// Certificates made by openssl in their own folder.
final class TLSCertificates: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Test-CA "
                + "-keyout ca.key -out ca.pem"
        )
        try Data(Self.authorityConfiguration.utf8).write(to: folder.appending(path: "ca.cnf"))
        try Data().write(to: folder.appending(path: "issued"))
        try issue("server", for: "IP:127.0.0.1")
        try issue("expired", for: "IP:127.0.0.1", dates: "-startdate 20200101000000Z -enddate 20200102000000Z")
        try issue("other", for: "DNS:other.test")
        try issue("client", for: "DNS:client.test")
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var authority: URL { folder.appending(path: "ca.pem") }

    func certificate(_ name: String) -> URL { folder.appending(path: "\(name).pem") }

    func key(_ name: String) -> URL { folder.appending(path: "\(name).key") }

    /// A new file with a content.
    func file(_ name: String, _ content: String) throws -> URL {
        let file = folder.appending(path: name)
        try Data(content.utf8).write(to: file)
        return file
    }

    /// A copy of a key that only its password opens.
    func encryptedKey(_ name: String, password: String) throws -> URL {
        try openssl("pkey -in \(name).key -aes256 -passout pass:\(password) -out \(name).locked")
        return folder.appending(path: "\(name).locked")
    }

    /// The SHA-256 of a certificate's public key, by openssl alone.
    func pin(_ name: String) throws -> String {
        try openssl("x509 -in \(name).pem -pubkey -noout -out \(name).pub")
        try openssl("pkey -pubin -in \(name).pub -outform der -out \(name).spki")
        try openssl("dgst -sha256 -binary -out \(name).sha256 \(name).spki")
        return try Data(contentsOf: folder.appending(path: "\(name).sha256")).base64EncodedString()
    }

    /// Issues a certificate with `openssl ca`, because `openssl x509` cannot set dates before 3.4, and refuses negative
    /// days since then.
    private func issue(_ name: String, for subject: String, dates: String = "-days 2") throws {
        try Data("subjectAltName=\(subject)".utf8).write(to: folder.appending(path: "\(name).ext"))
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) "
                + "-keyout \(name).key -out \(name).csr"
        )
        try openssl(
            "ca -config ca.cnf -batch -notext -cert ca.pem -keyfile ca.key -in \(name).csr \(dates) "
                + "-extfile \(name).ext -out \(name).pem"
        )
    }

    private static let authorityConfiguration = """
        [ca]
        default_ca = authority
        [authority]
        database = issued
        new_certs_dir = .
        rand_serial = yes
        default_md = sha256
        policy = names
        [names]
        commonName = supplied

        """

    private func openssl(_ arguments: String) throws {
        let shell = try Shell("cd '\(folder.path)' && openssl \(arguments) >/dev/null")
        try #require(shell.end() == 0, "openssl \(arguments)")
    }
}

/// `openssl s_server` on a free port; answers every request with a page about the connection.
final class TLSServer {
    let url: URL
    let port: Int
    private let processID: pid_t
    private let shell: Shell

    /// - Parameters:
    ///   - options: More of s_server's options.
    ///   - response: The response to send in place of the page.
    init(
        _ certificates: TLSCertificates,
        _ name: String,
        asksForClientCertificate: Bool = false,
        options: String = "",
        response: String? = nil
    ) throws {
        let content = try response.map { try certificates.file("response", $0) }
        let shell = try Shell(
            "cd '\(certificates.folder.path)'; echo $$; exec openssl s_server -accept 127.0.0.1:0 \(options) "
                + (content == nil ? "-www" : "-HTTP") + " -CAfile '\(certificates.authority.path)' "
                + "-cert '\(certificates.certificate(name).path)' -key '\(certificates.key(name).path)'"
                + (asksForClientCertificate ? " -Verify 1" : "")
        )
        processID = try #require(shell.line().flatMap { pid_t($0) })
        var line = shell.line()
        while let text = line, !text.hasPrefix("ACCEPT") { line = shell.line() }
        port = try #require(line?.split(separator: ":").last.flatMap { Int($0) }, "s_server did not start")
        url = try #require(URL(string: "https://127.0.0.1:\(port)/\(content?.lastPathComponent ?? "")"))
        self.shell = shell
    }

    deinit {
        kill(processID, SIGKILL)
    }
}
#endif
