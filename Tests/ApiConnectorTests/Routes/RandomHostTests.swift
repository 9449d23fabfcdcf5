// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import Testing

struct RandomHostTests {
    private static let name = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._".utf8)

    /// Why the URL names another host than the environment does, or another path; nil where it does not.
    private static func flaw(of host: String) -> String? {
        let place = Place(host: host, port: 8080)
        let url = Endpoint(text: "/me").url(for: place)
        guard let parts = SplitURL(url.absoluteString) else { return "is no URL" }
        guard parts.port == "8080", parts.segments == ["me"], parts.query == nil, url.port == 8080 else {
            return "has another port or path"
        }
        guard url.user == nil, url.path() == "/me" else { return "has a user or another path, says Foundation" }
        guard (try? Endpoint(text: "/me").request(in: place)) != nil else {
            return SplitURL.decoded(parts.host) == Array(host.utf8) ? nil : "was refused as another host"
        }
        if host.utf8.allSatisfy(name.contains) { return parts.host == host ? nil : "changes a plain host" }
        if parts.host.hasPrefix("[") {
            return parts.host == (host.hasPrefix("[") ? host : "[\(host)]") ? nil : "changes an address"
        }
        let isName = !parts.host.isEmpty && parts.host.utf8.allSatisfy(name.contains)
        let hasUnicode = host.utf8.contains { $0 >= 0x80 }
        return isName && hasUnicode ? nil : "was accepted"
    }

    @Test func neverNamesAnotherHost() {
        var texts = HostileText(.printed())
        var failures: [String] = []
        for _ in 0..<SplitMix64.caseCount {
            let host = texts.next()
            if let flaw = Self.flaw(of: host) {
                failures.append(
                    "\(Endpoint(text: "/me").text(in: Place(host: host))) \(flaw); of \(String(reflecting: host))"
                )
            }
        }
        #expect(failures.count == 0, "\(failures.prefix(5))")
    }
}
