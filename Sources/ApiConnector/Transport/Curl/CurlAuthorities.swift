// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// The file of trusted certificates that libcurl reads, and when libcurl has to read it again.
///
/// libcurl parses the system's file for each new connection, which takes 23 ms of processor time, unless it can cache
/// the result. It has this cache from 7.87 on, only with OpenSSL, and only if no folder of certificates is set.
enum CurlAuthorities {
    /// The usual paths of a file with all trusted certificates, for a libcurl without a default.
    static let usualPaths = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// The system's file; nil if libcurl should use its own defaults.
    static let systemPath: String? = {
        guard CurlRuntime.keepsAuthorities, CurlOpenSSL.version != nil else { return nil }
        return path(named: defaultPath) { access($0, R_OK) == 0 }
    }()

    /// libcurl's own default, which may not exist; nil if it has none.
    static let defaultPath = information { $0.cainfo }

    /// Whether libcurl also trusts the certificates in its default folder, unless another folder is set.
    ///
    /// From 8.21 on, a transfer cannot have no folder. With a folder, libcurl does not cache the certificates of a file.
    static let addsFolder = CurlRuntime.addsCertificateFolder && information { $0.capath } != nil

    /// The path of a folder without certificates.
    static let noFolder = "/dev/null"

    private static func information(
        _ text: (curl_version_info_data) -> UnsafePointer<CChar>?
    ) -> String? {
        guard let info = curl_version_info(0)?.pointee, info.age >= 6 else { return nil }
        return text(info).map { String(cString: $0) }
    }

    /// The first readable file: libcurl's own default, then the usual ones.
    static func path(named name: String?, isReadable: (String) -> Bool) -> String? {
        ([name].compactMap { $0 } + usualPaths).first(where: isReadable)
    }

    // MARK: Changes

    /// The certificates and sessions that libcurl may reuse when a connection opens.
    struct Reuse: Equatable {
        /// The maximum age of cached certificates in seconds; 0 makes libcurl read the file.
        var seconds: Int
        /// Whether a TLS session may be resumed, which does not check a certificate.
        var allowsSessions: Bool

        static let all = Reuse(seconds: 86_400, allowsSessions: true)

        /// The reuse that is allowed some milliseconds after a change was detected.
        ///
        /// The maximum age is 2 ms less than the time since the change, rounded down to whole seconds, libcurl's unit.
        /// So certificates that libcurl read before the change are always too old. Because of the rounding, it is
        /// possible that libcurl also rereads certificates that it read less than 1.1 seconds after the change.
        /// Certificates that it read later are reused for up to a day. A TLS session lives for at most 7 days (RFC
        /// 8446, section 4.6.1).
        init(afterChange milliseconds: Int) {
            seconds = min(max(0, (milliseconds - 2) / 1000), 86_400)
            allowsSessions = milliseconds > 7 * 86_400_000
        }

        init(seconds: Int, allowsSessions: Bool) {
            self.seconds = seconds
            self.allowsSessions = allowsSessions
        }
    }

    /// Identifies the version of a file.
    private struct Stamp: Equatable {
        let numbers: [Int]

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            numbers = [
                Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), Int(status.st_size),
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    private struct Record {
        var stamp: Stamp
        /// When a change was last detected, by the monotonic clock.
        var change: Int?
    }

    /// One record per configured path.
    private static let records = Locked<[String: Record]>([:])

    /// Checks whether the file has changed, and returns the certificates and sessions that libcurl may reuse.
    ///
    /// Called when a connection opens.
    ///
    /// A missing file counts as unchanged, because it may be about to be replaced.
    static func reuse(of path: String) -> Reuse {
        guard let stamp = Stamp(path) else { return .all }
        let now = MonotonicTime.milliseconds
        return records.withLock { records in
            let change = records[path].flatMap { $0.stamp == stamp ? $0.change : now }
            records[path] = Record(stamp: stamp, change: change)
            return change.map { Reuse(afterChange: now - $0) } ?? .all
        }
    }
}

extension CurlConfiguration {
    /// The file of trusted certificates; nil for libcurl's defaults.
    var authorityPath: String? { certificateAuthorityFile?.path ?? CurlAuthorities.systemPath }
}

extension CurlHandle {
    /// Makes libcurl read the trusted certificates again if their file has changed; called when a connection opens.
    func refreshAuthorities() {
        guard transfer?.requestHead.isSecure == true, let path = configuration.authorityPath else { return }
        let reuse = CurlAuthorities.reuse(of: path)
        easy.set(CCURLOPT_CA_CACHE_TIMEOUT, reuse.seconds)
        easy.set(CCURLOPT_SSL_SESSIONID_CACHE, reuse.allowsSessions ? 1 : 0)
    }
}

#endif
