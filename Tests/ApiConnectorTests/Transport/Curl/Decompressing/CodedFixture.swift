// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Foundation
import Testing

/// The same text in each content coding, and 3 MiB of zeros.
struct CodedFixture: Sendable, CustomTestStringConvertible {
    /// 278 bytes.
    ///
    /// Computed, because the leak checker takes a Data in a global for lost.
    static var text: Data { Data((0..<12).map { "line \($0) of what is sent\n" }.joined().utf8) }

    /// The length of what each bomb expands to: 3 MiB.
    static let bombByteCount = 3 << 20

    /// The name in `Content-Encoding`.
    let coding: String
    /// The variant of the coding, if it is not the usual one.
    var variant = ""
    /// The text, coded.
    let whole: Data
    /// The zeros, coded.
    let bomb: Data
    /// Where a cut leaves whole data; nil for nowhere.
    var boundary: Int?

    var testDescription: String { coding + variant }

    /// One of each coding that is asked for.
    static let all = [gzip, deflate, brotli, zstandard]

    /// Made by Python's gzip module.
    static let gzip = CodedFixture(
        coding: "gzip",
        whole: data(
            "H4sIAAAAAAAC/8vJzEtVMFDIT1Moz0gsUcgsVihOzSvhygEJG2IXNsIubIxd2AS7sCl2YTPswubYhS2wC1vi8A4ub2L6EwCWtU+0FgEA"
                + "AA=="
        ),
        bomb: data("H4sIAAAAAAAC/+3BAQ0AAADCoPdPbQ43o" + zeros(4064) + "L4Nxk9yeQAAMAA=")
    )

    /// Two members of gzip, one after the other: RFC 1952, section 2.2.
    static var gzipMembers: CodedFixture {
        CodedFixture(
            coding: "gzip",
            variant: ", two members",
            whole: firstMember + secondMember,
            bomb: gzip.bomb,
            boundary: firstMember.count
        )
    }

    private static let firstMember = data(
        "H4sIAAAAAAAC/8vJzEtVMFDIT1Moz0gsUcgsVihOzSvhygEJG2IXNsIubIxd2EQhHwCFzI0bZAAAAA=="
    )
    private static let secondMember = data(
        "H4sIAAAAAAAC/0tTKM9ILFHILFYoTs0r4crJzEtVMFXIT8MibIZd2By7sAV2YUvswoYGOMQNMcQBNJKv3bIAAAA="
    )

    /// Made by Python's zlib module.
    static let deflate = CodedFixture(
        coding: "deflate",
        whole: data(
            "eNrLycxLVTBQyE9TKM9ILFHILFYoTs0r4coBCRtiFzbCLmyMXdgEu7ApdmEz7MLm2IUtsAtb4vAOLm9i+hMAWKlcHQ=="
        ),
        bomb: data("eNrtwQENAAAAwqD3T20ON6" + zeros(4064) + "C+DQLQAAE=")
    )

    /// Without the header of zlib, as some servers send it.
    static let rawDeflate = CodedFixture(
        coding: "deflate",
        variant: ", raw",
        whole: deflate.whole.dropFirst(2).dropLast(4),
        bomb: deflate.bomb.dropFirst(2).dropLast(4)
    )

    /// Made by BrotliEncoderCompress.
    static let brotli = CodedFixture(
        coding: "br",
        whole: data("GxUBQOThoScU4PkIhRtsxIwDkFfKtEtoui5cOiZxQ8K7465vzgcBDAIKBg4BCQX94tAD"),
        bomb: data("m///L/gnAOKxQCD3/gU=")
    )

    /// Made by `zstd --no-check`; the bomb is one block after the other.
    static let zstandard = CodedFixture(
        coding: "zstd",
        whole: data(
            "KLUv/QBo3QEAFAJsaW5lIDAgb2Ygd2hhdCBpcyBzZW50CjEyMzQ1Njc4OTEMoEB4/3ewI+vreOqgoqgoCoWitKZeVgY="
        ),
        bomb: data(
            "KLUv/QBoTAAACAABAPz/ORACAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAIAEAACABAA"
                + "AgAQAAIAEAACABAAAgAQAAIAEAACABAAAgAQAAMAEAA="
        )
    )

    /// Made by `zstd`, with a checksum.
    static let checkedZstandard = CodedFixture(
        coding: "zstd",
        variant: ", with a checksum",
        whole: data(
            "KLUv/QRo3QEAFAJsaW5lIDAgb2Ygd2hhdCBpcyBzZW50CjEyMzQ1Njc4OTEMoEB4/3ewI+vreOqgoqgoCoWitKZeVgYkCHMv"
        ),
        bomb: zstandard.bomb
    )

    private static func data(_ text: String) -> Data {
        Data(base64Encoded: text) ?? Data()
    }

    private static func zeros(_ count: Int) -> String {
        String(repeating: "A", count: count)
    }
}
