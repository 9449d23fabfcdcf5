// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector

/// A version of libcurl, such as 8.14.1.
struct CurlVersion: Sendable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    private let numbers: [Int]

    var description: String { numbers.map { "\($0)" }.joined(separator: ".") }

    init(_ text: some StringProtocol) {
        numbers = text.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 }
    }

    init(stringLiteral text: String) {
        self.init(text)
    }

    static func < (first: CurlVersion, second: CurlVersion) -> Bool {
        first.numbers.lexicographicallyPrecedes(second.numbers)
    }

    /// The version that this process has loaded; nil without libcurl.
    ///
    /// Foundation on Linux uses it, with or without the trait `Curl`.
    static let loaded: CurlVersion? = {
        #if os(Linux)
        typealias Function = @convention(c) () -> UnsafePointer<CChar>?
        guard let function = dlsym(nil, "curl_version"),
            // As in "libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13".
            let text = unsafeBitCast(function, to: Function.self)().map({ String(cString: $0) })
        else { return nil }
        return CurlVersion(text.prefix { $0 != " " }.drop { !$0.isNumber })
        #else
        return nil
        #endif
    }()
}
