// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if Curl && os(Linux)
import Testing

@testable import ApiConnector

struct CurlRuntimeTests {
    @Test func refusesALibcurlThatIsTooOld() {
        #expect(
            CurlRuntime.flaw(version: 0x07_4C_00, versionName: "7.76.0", hasTLS: true)
                == "libcurl 7.76.1 or later is needed, but libcurl.so.4 is 7.76.0; install a newer libcurl, or "
                + "depend on ApiConnector with traits: [], which selects URLSession"
        )
        #expect(CurlRuntime.flaw(version: 0x07_4C_01, versionName: "7.76.1", hasTLS: true) == nil)
    }

    @Test func refusesALibcurlWithoutTLS() {
        #expect(
            CurlRuntime.flaw(version: 0x07_58_01, versionName: "7.88.1", hasTLS: false)
                == "a libcurl with TLS is needed, but libcurl.so.4, 7.88.1, has no TLS; install another libcurl, or "
                + "use URLSessionProvider"
        )
    }

    @Test func acceptsTheInstalledLibcurl() {
        #expect(CurlRuntime.flaw == nil)
    }
}
#endif
