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
            // Labels and decoding as in the WHATWG Encoding Standard.
            ("text/plain; charset=iso-8859-1", Data([0x80, 0x93, 0xFF]), "€“ÿ"),
            ("text/plain; charset=latin1", Data([0x81, 0x9F]), "\u{81}Ÿ"),
            ("text/plain; charset=us-ascii", Data([0x61, 0xE9]), "aé"),
            ("text/plain; charset=cp1252", Data([0x80]), "€"),
            ("text/plain; charset=\" Windows-1252 \"", Data([0x8D, 0x8E]), "\u{8D}Ž"),
            ("text/plain; charset=\"\"", Data("é".utf8), "é"), ("text/plain; charset=", Data("é".utf8), "é"),
            ("text/plain; charset=utf-16", Data([0xE9, 0x00]), "é"),
            ("text/plain; charset=utf-16", Data([0xFE, 0xFF, 0x00, 0xE9]), "é"),
            ("text/plain; charset=utf-16", Data([0xFF, 0xFE, 0xE9, 0x00]), "é"),
            ("text/plain; charset=utf-16be", Data([0x00, 0xE9, 0xD8]), "é\u{FFFD}"),
            ("text/plain; charset=utf-16", Data([0x00, 0xD8, 0x61, 0x00]), "\u{FFFD}a"),
            ("text/plain; charset=iso-8859-1", Data("\u{FEFF}é".utf8), "é"),
            (nil, Data([0xFF, 0xFE, 0x61, 0x00]), "a"),
            ("text/plain; charset=cp1251", Data([0xFF]), "я"), ("text/plain; charset=sjis", Data([0x93, 0xFA]), "日"),
            ("text/plain; charset=l2", Data([0xB1]), "ą"), ("text/plain; charset=latin5", Data([0xFE]), "ş"),
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
            try await api("text/plain; charset=EUC-JP", Data([0xFF])).string(at: Endpoint("/"))
        }
        #expect(wrong.detail == "the body is not valid text in the response's charset \"euc-jp\"")
    }
}
