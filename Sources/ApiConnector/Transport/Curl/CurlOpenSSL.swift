// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// Functions of the OpenSSL that libcurl has loaded.
enum CurlOpenSSL {
    /// The major version of libcurl's OpenSSL, such as "3" or "1.1"; nil for another TLS library.
    static let version: String? = {
        guard CurlRuntime.flaw == nil, let name = curl_version_info(0)?.pointee.ssl_version else { return nil }
        return version(in: String(cString: name))
    }()

    /// The version in libcurl's text, such as "OpenSSL/3.0.19" or "(GnuTLS/3.7.9) OpenSSL/1.1.1n".
    static func version(in text: String) -> String? {
        // In parentheses are the libraries that libcurl could use and does not.
        let active = text.split(separator: " ").first { $0.hasPrefix("OpenSSL/") }
        guard let numbers = active?.dropFirst("OpenSSL/".count).split(separator: "."), numbers.count > 1 else {
            return nil
        }
        return numbers[0] == "1" ? "1.\(numbers[1].prefix { $0.isNumber })" : String(numbers[0])
    }

    static let setInfoCallback: ccurl_ssl_set_info_callback? = function("SSL_set_info_callback", of: "ssl")

    /// Gives back what libcrypto keeps for the calling thread; a thread that ends does it by itself, and later.
    static let endThread: (@convention(c) () -> Void)? = function("OPENSSL_thread_stop", of: "crypto")

    /// A function, by its name, of the library that libcurl uses; another OpenSSL may be loaded beside it.
    static func function<Function>(_ name: String, of library: String) -> Function? {
        guard let version, let handle = dlopen("lib\(library).so.\(version)", RTLD_LAZY | RTLD_NOLOAD) else {
            return nil
        }
        return dlsym(handle, name).map { unsafeBitCast($0, to: Function.self) }
    }
}

#endif
