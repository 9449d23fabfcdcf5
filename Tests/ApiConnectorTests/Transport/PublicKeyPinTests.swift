// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import TestSupport
import Testing

@testable import ApiConnector

struct PublicKeyPinTests {
    @Test(arguments: ["", "sha256//", "AAAA", "not base64"]) func acceptsOnlyAHash(_ text: String) {
        #expect(PublicKeyPin(sha256: text) == nil)
    }

    @Test(arguments: ["", "sha256/", "sha256//"]) func isMadeWithAndWithoutItsPrefix(_ prefix: String) throws {
        let hash = Data(count: 32).base64EncodedString()
        let pin = try #require(PublicKeyPin(sha256: prefix + hash))
        #expect(pin.sha256 == hash)
        #expect(pin.description == "sha256//" + hash)
    }

    @Test func knowsAHashByItsBytes() throws {
        let hash = Data(count: 32).base64EncodedString()
        // The last character holds two bits that mean nothing.
        let other = String(hash.dropLast(2)) + "B="
        #expect(PublicKeyPin(sha256: other) == nil || PublicKeyPin(sha256: other) == PublicKeyPin(sha256: hash))
    }

    #if os(macOS) || os(Linux)
    /// Compares the header that the library puts before a bare key with openssl's output.
    @Test(arguments: [
        ("RSA", "rsa_keygen_bits:2048"), ("RSA", "rsa_keygen_bits:3072"), ("RSA", "rsa_keygen_bits:4096"),
        ("EC", "ec_paramgen_curve:P-256"), ("EC", "ec_paramgen_curve:P-384"), ("EC", "ec_paramgen_curve:P-521"),
    ])
    func putsItsHeaderBeforeABareKey(_ algorithm: String, _ option: String) throws {
        // The whole key information of one key, followed by the bare key for RSA.
        let bare = algorithm == "RSA" ? "echo \"$key\" | openssl rsa -RSAPublicKey_out -outform der" : "true"
        let shell = try Shell(
            "key=$(openssl genpkey -algorithm \(algorithm) -pkeyopt \(option)) && "
                + "echo \"$key\" | openssl pkey -pubout -outform der && \(bare)"
        )
        let both = shell.rest()
        try #require(shell.end() == 0)
        // RSA: four bytes of tag and length, then as many bytes as the length says. A point: its curve sets the length.
        let length = 4 + Int(both[2]) << 8 + Int(both[3])
        let byteCount = ["P-256": 65, "P-384": 97, "P-521": 133][String(option.suffix(5))] ?? both.count - length
        let (whole, key) = (algorithm == "RSA" ? both.prefix(length) : both, both.suffix(byteCount))
        let info = try #require(SubjectPublicKeyInfo(externalRepresentation: Data(key)))
        #expect(info.der == whole)
    }
    #endif

    @Test(arguments: [[], [4], [UInt8](repeating: 4, count: 66), [UInt8](repeating: 2, count: 65)])
    func knowsNoOtherKindOfKey(_ bytes: [UInt8]) {
        #expect(SubjectPublicKeyInfo(externalRepresentation: Data(bytes)) == nil)
    }
}
