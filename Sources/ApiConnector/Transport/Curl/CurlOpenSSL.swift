// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Functions of the OpenSSL library that libcurl has loaded.
enum CurlOpenSSL {
    /// The major version of libcurl's OpenSSL, such as "3" or "1.1"; nil for another TLS library.
    static let version: String? = {
        guard CurlRuntime.flaw == nil, let name = curl_version_info(0)?.pointee.ssl_version else { return nil }
        return version(in: String(cString: name))
    }()

    /// The version in libcurl's text, such as "OpenSSL/3.0.19" or "(GnuTLS/3.7.9) OpenSSL/1.1.1n".
    static func version(in text: String) -> String? {
        // The libraries in parentheses are available to libcurl but not in use.
        let active = text.split(separator: " ").first { $0.hasPrefix("OpenSSL/") }
        guard let numbers = active?.dropFirst("OpenSSL/".count).split(separator: "."), numbers.count > 1 else {
            return nil
        }
        return numbers[0] == "1" ? "1.\(numbers[1].prefix { $0.isNumber })" : String(numbers[0])
    }

    static let setInfoCallback: ccurl_ssl_set_info_callback? = function("SSL_set_info_callback")

    /// OpenSSL's connection of a transfer; nil if the transfer has none.
    static func connection(of easy: CurlEasy) -> UnsafeMutableRawPointer? {
        var pointer: UnsafeMutableRawPointer?
        guard ccurl_easy_get_pointer(easy.pointer, CCURLINFO_TLS_SSL_PTR, &pointer) == 0,
            let session = pointer?.assumingMemoryBound(to: ccurl_tls_session.self).pointee,
            session.backend == Int32(CCURL_SSL_BACKEND_OPENSSL)
        else { return nil }
        return session.internals
    }

    /// Whether the server has sent `close_notify` on the connection of a transfer; nil if that is not known.
    static func isNotified(_ easy: CurlEasy) -> Bool? {
        guard let getShutdown, let connection = connection(of: easy) else { return nil }
        // SSL_RECEIVED_SHUTDOWN is 2.
        return getShutdown(connection) & 2 != 0
    }

    private static let getShutdown: (@convention(c) (UnsafeMutableRawPointer) -> Int32)? = function("SSL_get_shutdown")

    /// Frees libcrypto's data for the calling thread; otherwise this happens later, when the thread ends.
    static let endThread: (@convention(c) () -> Void)? = function("OPENSSL_thread_stop")

    /// A function of the OpenSSL that libcurl uses, by name.
    ///
    /// Another OpenSSL may also be loaded, and a package may have given libcurl's OpenSSL any file name. So the function
    /// is looked up in libcurl and in the libraries that libcurl was linked with.
    static func function<Function>(_ name: String) -> Function? {
        guard version != nil, let libcurl = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD) else { return nil }
        return dlsym(libcurl, name).map { unsafeBitCast($0, to: Function.self) }
    }
}

#endif
