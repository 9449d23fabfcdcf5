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

    @Test(
        arguments: [
            (CurlLogTexts.oldestVersion, false), (0x07_57_00, false), (0x07_58_00, true), (0x07_58_01, true),
            (0x08_00_00, false), (0x08_02_01, false), (0x08_03_00, true), (CurlLogTexts.newestVersion + 1, true),
        ] as [(UInt32, Bool)]
    )
    func onlyAConfigurationThatDemandsHTTP2NeedsAVersionThatHasIt(_ version: UInt32, _ hasHTTP2: Bool) {
        #expect(CurlRuntime.mayUseHTTP2(version) == hasHTTP2)
        let flaw = CurlRuntime.flaw(of: .http2PriorKnowledge, version: version, versionName: "7.81.0")
        let text =
            "HTTP/2 needs libcurl 7.88, or 8.3 or later, but libcurl.so.4 is 7.81.0; set CurlConfiguration.httpVersion "
            + "to .automatic or .http1, or install a newer libcurl"
        #expect(flaw == (hasHTTP2 ? nil : text))
        #expect(CurlRuntime.flaw(of: .automatic, version: version, versionName: "7.81.0") == nil)
        #expect(CurlRuntime.flaw(of: .http1, version: version, versionName: "7.81.0") == nil)
    }

    @Test func theDefaultIsHTTP1WithoutHTTP2() {
        #expect(CurlConfiguration().httpVersion.supported(hasHTTP2: false) == .http1)
        for version in [.automatic, .http1, .http2PriorKnowledge] as [CurlConfiguration.HTTPVersion] {
            #expect(version.supported(hasHTTP2: true) == version)
        }
    }

    @Test func acceptsTheInstalledLibcurl() {
        #expect(CurlRuntime.flaw == nil)
    }
}
#endif
