// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTesting
import Testing

@testable import ApiConnector
@testable import ApiConnectorTraffic

/// By what a record is found.
struct CacheKeyTests {
    @Test func digestsAsTheStandardsSay() {
        func hex(_ bytes: [UInt8]) -> String { CacheKey(digest: bytes).description }
        #expect(
            hex(SHA256Digest.digest(of: [])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            hex(SHA256Digest.digest(of: Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            hex(SHA256Digest.digest(of: Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)))
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        )
        #expect(
            hex(SHA256Digest.digest(of: [UInt8](repeating: UInt8(ascii: "a"), count: 1_000)))
                == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        )
        // RFC 4231, test cases 2 and 6.
        #expect(
            hex(
                SHA256Digest.authenticationCode(
                    of: Array("what do ya want for nothing?".utf8),
                    key: SHA256Digest.Key(Array("Jefe".utf8))
                )
            )
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
        let message = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            hex(
                SHA256Digest.authenticationCode(
                    of: message,
                    key: SHA256Digest.Key([UInt8](repeating: 0xAA, count: 131))
                )
            )
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test func equivalentURLsHaveOneRecord() throws {
        let digest = CacheDigest(key: Data([1]))
        func address(_ text: String, host: String? = nil) throws -> CacheKey? {
            digest.key(of: try #require(URL(string: text)), host: host)
        }
        let plain = try address("http://h/a?b=c")
        #expect(plain != nil)
        for same in ["http://h:80/a?b=c", "HTTP://H/a?b=c", "http://u:p@h/a?b=c", "http://h/a?b=c#d"] {
            #expect(try address(same) == plain)
        }
        for other in [
            "https://h/a?b=c", "http://h:81/a?b=c", "http://h/a", "http://h/a?b=d", "http://h/A?b=c", "http://h/a?b=c&",
        ] {
            #expect(try address(other) != plain)
        }
        #expect(try address("http://h/a?b=c", host: "other") != plain)
        #expect(try address("http://h") == address("http://h/"))
        #expect(try address("file:///a") == nil)
        let url = try #require(URL(string: "http://h/a?b=c"))
        #expect(CacheDigest(key: Data([2])).key(of: url) != plain)
    }

    @Test(arguments: [("http://h/a%2Fb", "http://h/a/b"), ("http://h/a?b=c%26d", "http://h/a?b=c&d")])
    func anEncodedDelimiterMakesAnotherURL(_ encoded: String, _ plain: String) throws {
        let digest = CacheDigest(key: Data([1]))
        #expect(digest.key(of: try #require(URL(string: encoded))) != digest.key(of: try #require(URL(string: plain))))
    }
}
