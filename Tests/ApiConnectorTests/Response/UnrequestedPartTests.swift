// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorTestServers
import ApiConnector
import ApiConnectorTesting
import Testing

/// A 206 for a request without a `Range` field (RFC 9110, section 15.3.7).
struct UnrequestedPartTests {
    private static let detail =
        "the server answered 206 Partial Content, a part of the body, but the request has no Range field"

    private static let ranges: [String?] = ["bytes 0-4/10000", "bytes 100-104/10000", "Bytes 0-4/*"]

    private func part(_ range: String?) -> LoopbackResponse {
        var response = LoopbackResponse.json("12345", status: 206)
        if let range { response.headers.append((name: "Content-Range", value: range)) }
        return response
    }

    @Test(arguments: Wire.allCases, ranges)
    func isNotTheValueOfACall(_ wire: Wire, _ range: String?) async throws {
        let web = try ScriptedWeb(over: wire) { _ in part(range) }
        let api = web.connection()
        let options = CallOptions(validation: .unchecked)
        let errors = [
            try await failure { () throws(ApiConnectorError) in try await api.data(at: Endpoint("/")) },
            try await failure { () throws(ApiConnectorError) in
                try await api.data(at: Endpoint("/"), options: options)
            },
            try await failure { () throws(ApiConnectorError) in try await api.response(at: Endpoint("/")) },
            try await failure { () throws(ApiConnectorError) in try await api.value(Int.self, at: Endpoint("/")) },
            try await failure { () throws(ApiConnectorError) in try await api.send(at: Endpoint("/")) },
        ]
        #expect(errors.map(\.kind) == Array(repeating: ApiConnectorError.Kind.malformedResponse, count: 5))
        #expect(errors.map(\.detail) == Array(repeating: Self.detail, count: 5))
        #expect(errors.allSatisfy { $0.response?.status == 206 })
        #expect(web.requests.count == 5)
    }

    @Test(arguments: Wire.allCases, ranges)
    func isNotAStreamOrAFile(_ wire: Wire, _ range: String?) async throws {
        let web = try ScriptedWeb(over: wire) { _ in part(range) }
        let api = web.connection()
        let chunks = await api.stream(at: Endpoint("/"), as: .chunks).readToTheEnd()
        #expect(chunks.elements.isEmpty)
        #expect(chunks.error?.kind == .malformedResponse)
        #expect(chunks.error?.detail == Self.detail)
        let numbers = await api.stream(of: Int.self, at: Endpoint("/"), as: .jsonLines.resuming()).readToTheEnd()
        #expect(numbers.elements.isEmpty)
        #expect(numbers.error?.kind == .malformedResponse)
        let folder = try TemporaryFolder()
        let download = await api.download(at: Endpoint("/"), to: folder.file("a")).readToTheEnd()
        #expect(download.error?.kind == .malformedResponse)
        #expect(download.error?.detail == Self.detail)
        #expect(folder.names == [])
    }

    @Test(arguments: Wire.allCases)
    func isTheValueIfTheCallHasARangeField(_ wire: Wire) async throws {
        let web = try ScriptedWeb(over: wire) { _ in part("bytes 0-4/10000") }
        let options = CallOptions(headers: ["Range": "bytes=0-4"])
        #expect(try await web.connection().data(at: Endpoint("/"), options: options) == Data("12345".utf8))
        let chunks = web.connection().stream(at: Endpoint("/"), as: .chunks, options: options)
        #expect(Data(await chunks.readToTheEnd().elements.joined()) == Data("12345".utf8))
    }

    @Test func isTheValueIfAWrapperAddsARangeField() async throws {
        let provider = TestConnector { _ in .data(Data("12345".utf8), status: 206) }
        let api = NetworkConnector<_, Endpoint<ApiPath>>(
            environment: Place(),
            provider: provider.addingHeaders(["Range": "bytes=0-4"])
        )
        #expect(try await api.data(at: Endpoint("/")) == Data("12345".utf8))
    }

    /// A page of a list, for example `Content-Range: 0-24/3573458`, or a batch of which a part has failed.
    @Test(arguments: Wire.allCases, ["0-4/10000", "items 0-4/10000", nil] as [String?])
    func isTheValueIfItNamesNoRangeOfBytes(_ wire: Wire, _ range: String?) async throws {
        let web = try ScriptedWeb(over: wire) { _ in part(range) }
        #expect(try await web.connection().data(at: Endpoint("/")) == Data("12345".utf8))
    }

    @Test(arguments: Wire.allCases)
    func severalRangesAreNotTheValue(_ wire: Wire) async throws {
        let headers = [(name: "Content-Type", value: "multipart/byteranges; boundary=a")]
        let web = try ScriptedWeb(over: wire) { _ in
            LoopbackResponse(status: 206, headers: headers, body: Data("--a--".utf8))
        }
        let api = web.connection()
        let error = try await failure { () throws(ApiConnectorError) in try await api.data(at: Endpoint("/")) }
        #expect(error.kind == .malformedResponse)
        #expect(error.detail == Self.detail)
    }
}
