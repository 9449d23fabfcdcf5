// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct TransferErrorsTests {
    /// The kind for each of libcurl's names, written independently and not copied from the library's table.
    static let expected: [(Int32, String)] = [
        (1, "malformedResponse"), (2, "other"), (3, "invalidRequest"), (4, "other"), (5, "nameNotResolved"),
        (6, "nameNotResolved"), (7, "cannotConnect"), (8, "malformedResponse"), (16, "connectionLost"),
        (18, "connectionLost"), (23, "other"), (26, "other"), (27, "malformedResponse"), (28, "cannotConnect"),
        (35, "secureConnectionFailed"), (42, "other"), (43, "malformedResponse"), (45, "cannotConnect"),
        (52, "connectionLost"),
        (53, "secureConnectionFailed"), (54, "secureConnectionFailed"), (55, "connectionLost"), (56, "connectionLost"),
        (58, "secureConnectionFailed"), (59, "secureConnectionFailed"), (60, "secureConnectionFailed"),
        (61, "malformedResponse"), (64, "secureConnectionFailed"), (65, "notReplayable"),
        (66, "secureConnectionFailed"), (67, "credentialsUnavailable"), (77, "secureConnectionFailed"),
        (80, "connectionLost"), (82, "secureConnectionFailed"), (83, "secureConnectionFailed"), (89, "cannotConnect"),
        (90, "secureConnectionFailed"), (91, "secureConnectionFailed"), (92, "connectionLost"), (93, "other"),
        (94, "credentialsUnavailable"), (97, "cannotConnect"), (98, "secureConnectionFailed"),
        (100, "malformedResponse"),
    ]

    @Test(arguments: expected) func mapsEachCodeToItsKind(_ code: Int32, _ kind: String) {
        #expect(TransferErrors.kind(of: code, words: "").rawValue == kind)
    }

    @Test func coversTheWholeTable() {
        let codes = Set(Self.expected.map(\.0))
        #expect(TransferErrors.kinds.count == Self.expected.count { $0.1 != "other" })
        #expect(TransferErrors.kinds.keys.allSatisfy(codes.contains))
    }

    @Test func mapsATLSAlertAfterTheHandshake() {
        let words = "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0"
        #expect(TransferErrors.kind(of: 56, words: words) == .secureConnectionFailed)
    }

    @Test(arguments: [
        "Illegal or missing hexadecimal sequence in chunked-encoding", "chunk hex-length longer than 16",
        "chunk hex-length char not a hex digit: 0x7a", "invalid chunk size: '99999999999999999'",
        "nghttp2_session_mem_recv() returned -904:Flooding was detected",
        "nghttp2 recv error -904: Flooding was detected",
    ])
    func mapsBadFramingToMalformedResponse(_ words: String) {
        #expect(TransferErrors.kind(of: 56, words: words) == .malformedResponse)
    }

    @Test func mapsAFaultyKeyInABadArgumentToTheSecureConnection() {
        #expect(TransferErrors.kind(of: 43, words: "unable to set private key file: 'a'") == .secureConnectionFailed)
    }

    @Test func keepsNoValueOfAnInvalidField() {
        let start = "Invalid HTTP header field was received: frame type: 1, stream: 1, name: [Set-Cookie]"
        #expect(TransferErrors.explained(start + ", value: [id=secret]") == start)
    }

    @Test func mapsHTTP2ProtocolErrorsToMalformedResponse() {
        let words = "HTTP/2 stream 1 was not closed cleanly: "
        #expect(TransferErrors.kind(of: 92, words: words + "PROTOCOL_ERROR (err 1)") == .malformedResponse)
        #expect(TransferErrors.kind(of: 92, words: words + "CANCEL (err 8)") == .connectionLost)
    }

    @Test func explainsWhatLibcurlCallsOutOfMemory() throws {
        let request = ApiRequest(url: try #require(URL(string: "http://a.test/x")))
        let error = TransferErrors.error(27, words: "", general: "Out of memory", request: request)
        #expect(
            error.detail
                == "libcurl says: Out of memory; a header field of over 100 KiB also causes this (code 27)"
        )
    }

    @Test func keepsLibcurlsTextAndTheRequest() throws {
        let request = ApiRequest(url: try #require(URL(string: "http://a.test/x")))
        let error = TransferErrors.error(
            6,
            words: "Could not resolve host: a.test",
            general: "Couldn't resolve host name",
            request: request
        )
        #expect(
            error.description
                == "GET http://a.test/x failed (nameNotResolved): libcurl says: Could not resolve host: a.test (code 6). "
                + "Check the environment's host and this machine's DNS."
        )
        let plain = TransferErrors.error(6, words: "", general: "Couldn't resolve host name", request: request)
        #expect(plain.detail == "libcurl says: Couldn't resolve host name (code 6)")
    }
}
