// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests of a body that nginx compresses while it sends the body.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"))
struct CompressionTests {
    @Test(arguments: Wire.allCases)
    func arrivesAsItWas(_ wire: Wire) async throws {
        let nginx = try Nginx()
        let text = Data((0..<200_000).map { "line \($0)\n" }.joined().utf8)
        try text.write(to: nginx.files.appending(path: "text.txt"))
        let provider = wire.provider(trusting: nginx.authority)
        for delivery in [ResponseDelivery.standard, .streamed] {
            let request = ApiRequest(url: try wire.url(of: nginx, "/text.txt"), delivery: delivery)
            let response = try await provider.response(for: request)
            #expect(response.headers["Content-Encoding"] == "gzip")
            #expect(try await response.body.collect(upTo: text.count) == text)
        }
    }
}
#endif
