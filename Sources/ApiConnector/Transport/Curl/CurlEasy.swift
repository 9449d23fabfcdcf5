// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import CCurl

/// An easy handle of libcurl, with setters for options by the type of their value, and a getter for counts of bytes.
struct CurlEasy {
    let pointer: OpaquePointer

    func set(_ option: Int, _ value: Int) {
        ccurl_easy_set_long(pointer, option, value)
    }

    /// libcurl keeps a copy.
    func set(_ option: Int, _ value: String?) {
        ccurl_easy_set_text(pointer, option, value)
    }

    /// libcurl keeps a copy.
    func set(_ option: Int, _ value: UnsafePointer<CChar>) {
        ccurl_easy_set_text(pointer, option, value)
    }

    func set(_ option: Int, _ value: UnsafeMutableRawPointer) {
        ccurl_easy_set_pointer(pointer, option, value)
    }

    /// A count of bytes; nil if libcurl does not know it.
    func byteCount(_ information: Int) -> Int64? {
        var count: Int64 = -1
        guard ccurl_easy_get_offset(pointer, information, &count) == 0, count >= 0 else { return nil }
        return count
    }
}

#endif
