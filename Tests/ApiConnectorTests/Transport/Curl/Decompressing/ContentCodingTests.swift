// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import Testing

@testable import ApiConnector

struct ContentCodingTests {
    @Test(
        arguments: [
            ([], nil), ([""], nil), (["identity"], nil), (["none"], nil), (["Identity, ,"], nil), (["gzip"], "gzip"),
            (["X-GZip"], "gzip"), (["identity, BR"], "br"), (["identity", "zstd"], "zstd"), (["deflate,"], "deflate"),
            (["compress"], "compress"),
        ] as [([String], String?)]
    )
    func readsTheFields(_ values: [String], _ name: String?) {
        let headers = headers(values)
        #expect(ContentCoding(headers)?.name == name)
        #expect(ContentCoding.refusal(of: headers) == nil)
    }

    @Test(arguments: [["gzip, gzip"], ["gzip", "gzip"], ["gzip,identity", "GZIP"], ["br,gzip"], ["gzip, x"]])
    func refusesMoreThanOne(_ values: [String]) throws {
        let reason = try #require(ContentCoding.refusal(of: headers(values)))
        #expect(reason.hasPrefix("the body has 2 content codings, "))
        #expect(reason.hasSuffix("; at most one is supported"))
    }

    @Test func namesAtMostTwoCodings() {
        #expect(
            ContentCoding.refusal(of: headers(["gzip, gzip, gzip", "br"]))
                == "the body has 4 content codings, gzip and gzip among them; at most one is supported"
        )
    }

    private func headers(_ values: [String]) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": "text/plain"]
        for value in values { headers.append(.contentEncoding, value) }
        return headers
    }
}
