// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A certificate for 127.0.0.1, and an authority that signs it.
///
/// Both are made for one run.
enum Certificate {
    static let file = "server.pem"
    static let keyFile = "server.key"

    /// The possible paths of the system's bundle, to which the authority is added.
    private static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Makes the certificate and the authority, with P-256 keys.
    ///
    /// - Returns: A bundle of the system's certificates and the authority. With this bundle, a client does the same
    ///   work as with the system's bundle.
    static func make(in folder: URL) throws -> URL {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
        let quiet = "2>openssl.log || { cat openssl.log >&2; exit 1; }"
        if (try? Program.output(of: "command -v openssl")) == nil {
            throw MissingProgram(
                description: "goals: openssl is missing. Run 'Scripts/setup nginx' from the repository's root."
            )
        }
        try Program.output(
            of: """
                cd \(Program.quoted(folder.path)) || exit 1
                openssl req -x509 \(key) -subj /CN=goals -keyout authority.key -out authority.pem \(quiet)
                openssl req -x509 -CA authority.pem -CAkey authority.key \(key) -subj /CN=127.0.0.1 \
                    -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE \
                    -keyout \(keyFile) -out \(file) \(quiet)
                """
        )
        var bundle = Data()
        if let system = systemBundles.first(where: FileManager.default.isReadableFile) {
            bundle = try Data(contentsOf: URL(filePath: system))
        }
        bundle += try Data(contentsOf: folder.appending(path: "authority.pem"))
        let trusted = folder.appending(path: "trusted.pem")
        try bundle.write(to: trusted)
        return trusted
    }
}
