// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

struct StringCallTests {
    private func api(_ type: String?, _ body: Data) -> NetworkConnector<
        TestConnector<ClosureResponses>, Endpoint<ApiPath>
    > {
        let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? HTTPHeaders()
        return NetworkConnector(
            environment: Place(),
            provider: TestConnector { _ in .data(body, headers: headers) },
            router: Endpoint<ApiPath>.self
        )
    }

    @Test(
        arguments: [
            (nil, Data("é😀".utf8), "é😀"), ("text/plain", Data("é".utf8), "é"),
            ("text/plain; charset=UTF-8", Data("\u{FEFF}é".utf8), "é"),
            ("text/plain; charset=\"iso-8859-1\"", Data([0x63, 0xE9]), "cé"),
            ("text/html; charset=windows-1252", Data([0x80]), "€"),
            ("text/plain; charset=utf-16le", Data([0xE9, 0x00]), "é"),
            ("text/plain; charset=Shift_JIS", Data([0x93, 0xFA]), "日"), (nil, Data([0x61, 0xFF]), "a\u{FFFD}"),
            ("text/plain; charset=utf-8", Data([0x61, 0xFF]), "a\u{FFFD}"),
            ("text/plain; charset=UTF8", Data([0x61, 0xFF]), "a\u{FFFD}"),
        ] as [(String?, Data, String)]
    )
    func readsTheResponsesCharset(_ type: String?, _ body: Data, _ text: String) async throws {
        #expect(try await api(type, body).string(at: Endpoint("/")) == text)
        let url = try #require(URL(string: "http://api.example.com/"))
        #expect(try await api(type, body).string(at: url) == text)
    }

    @Test func refusesACharsetThatIsNotKnownAndBytesThatAreNotInIt() async throws {
        let unknown = try await failure { () throws(ApiConnectorError) in
            try await api("text/plain; charset=x-klingon", Data("a".utf8)).string(at: Endpoint("/"))
        }
        #expect(unknown.kind == .decodingFailed)
        #expect(
            unknown.detail
                == "the body's charset \"x-klingon\" is not supported; data(at:) returns the bytes"
        )
        let wrong = try await failure { () throws(ApiConnectorError) in
            try await api("text/plain; charset=us-ascii", Data([0xE9])).string(at: Endpoint("/"))
        }
        #expect(wrong.detail == "the body is not valid text in the response's charset \"us-ascii\"")
    }
}
