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
    static let loaded: CurlVersion? = library("libcurl")

    /// The version of a library that libcurl uses, such as "nghttp2"; nil if it does not use it.
    static func library(_ name: String) -> CurlVersion? {
        let part = text.split(separator: " ").first { $0.hasPrefix("\(name)/") }
        return part.map { CurlVersion($0.dropFirst(name.count + 1)) }
    }

    /// One of two values: the first over this version of libcurl and later ones, otherwise the second.
    static func since<Value>(_ version: CurlVersion, _ value: Value, before other: Value) -> Value {
        loaded.map { $0 >= version } ?? false ? value : other
    }

    /// The names and versions of libcurl and its libraries, such as "libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13".
    static let text: String = {
        #if os(Linux)
        typealias Function = @convention(c) () -> UnsafePointer<CChar>?
        guard let function = dlsym(nil, "curl_version") else { return "" }
        return unsafeBitCast(function, to: Function.self)().map { String(cString: $0) } ?? ""
        #else
        return ""
        #endif
    }()
}
