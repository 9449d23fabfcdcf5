// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

/// Another OpenSSL may be loaded beside the one that libcurl uses.
struct CurlOpenSSLTests {
    /// The file names of the libraries that libcurl was linked with.
    private static func linkedLibraries() throws -> [String] {
        // In glibc, the handle is a `struct link_map`. The third of its fields points to the dynamic section, which is a
        // list of tags and values.
        let handle = try #require(dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD))
        defer { dlclose(handle) }
        let wordSize = MemoryLayout<Int>.size
        let section = UnsafeRawPointer(handle).load(fromByteOffset: 2 * wordSize, as: UnsafeRawPointer?.self)
        var entry = try #require(section)
        var offsets: [Int] = []
        var names: UnsafeRawPointer?
        // DT_NULL is 0, DT_NEEDED is 1, and DT_STRTAB is 5.
        while case let tag = entry.load(as: Int.self), tag != 0 {
            let value = entry.load(fromByteOffset: wordSize, as: Int.self)
            if tag == 1 { offsets.append(value) }
            if tag == 5 { names = UnsafeRawPointer(bitPattern: value) }
            entry += 2 * wordSize
        }
        let start = try #require(names)
        return offsets.map { String(cString: (start + $0).assumingMemoryBound(to: CChar.self)) }
    }

    /// The name of the file that has a function.
    private static func file(of function: UnsafeMutableRawPointer) throws -> String {
        // Dl_info has four pointers, of which the first one is the path.
        typealias Function = @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<UnsafePointer<CChar>?>) -> Int32
        let symbol = try #require(dlsym(nil, "dladdr"))
        let find = unsafeBitCast(symbol, to: Function.self)
        var information: [UnsafePointer<CChar>?] = [nil, nil, nil, nil]
        let isFound = find(function, &information) != 0
        #expect(isFound)
        let path = try #require(information[0])
        return URL(filePath: String(cString: path)).lastPathComponent
    }

    @Test(
        .enabled(if: CurlOpenSSL.version != nil, "libcurl uses another TLS library"),
        arguments: ["SSL_set_info_callback", "SSL_get_shutdown", "OPENSSL_thread_stop", "OpenSSL_version"]
    )
    func aFunctionIsInALibraryThatLibcurlIsLinkedWith(_ name: String) throws {
        let libraries = try Self.linkedLibraries()
        #expect(libraries.contains { $0.hasPrefix("libc.so") })
        let function: UnsafeMutableRawPointer? = CurlOpenSSL.function(name)
        // Some builds of libcurl contain OpenSSL, and hide its functions.
        guard libraries.contains(where: { $0.hasPrefix("libssl") }) else { return #expect(function == nil) }
        let pointer = try #require(function)
        let file = try Self.file(of: pointer)
        #expect(libraries.contains(file))
    }

    @Test(.enabled(if: CurlOpenSSL.setInfoCallback != nil, "libcurl contains its TLS library, or uses another one"))
    func theVersionIsTheOneThatLibcurlReports() throws {
        let function: (@convention(c) (Int32) -> UnsafePointer<CChar>?)? = CurlOpenSSL.function("OpenSSL_version")
        // As in "OpenSSL 3.0.17 1 Jul 2025".
        let text = try #require(function?(0))
        let words = String(cString: text).split(separator: " ")
        #expect(words.count > 1 && words[0] == "OpenSSL")
        #expect(CurlVersion.text.split(separator: " ").contains("OpenSSL/\(words[1])"))
    }
}
#endif
