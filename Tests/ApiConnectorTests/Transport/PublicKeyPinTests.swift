// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

@Suite struct PublicKeyPinTests {
    @Test(arguments: ["", "sha256//", "AAAA", "not base64"]) func isMadeOfNothingButAHash(_ text: String) {
        #expect(PublicKeyPin(sha256: text) == nil)
    }

    @Test(arguments: ["", "sha256/", "sha256//"]) func isMadeWithAndWithoutItsPrefix(_ prefix: String) throws {
        let hash = Data(count: 32).base64EncodedString()
        let pin = try #require(PublicKeyPin(sha256: prefix + hash))
        #expect(pin.sha256 == hash)
        #expect(pin.description == "sha256//" + hash)
    }
}
