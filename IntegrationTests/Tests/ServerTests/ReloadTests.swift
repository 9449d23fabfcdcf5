// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

#if os(Linux)
import ApiConnector
import Foundation
import Servers
import Testing

/// Tests of reloads under load.
///
/// `Scripts/soak --reloads` sends 100,000 requests of each kind.
@Suite(.timeLimit(.minutes(10)))
struct ReloadTests {
    private let reloads = Reloads(count: 2_000, between: 250)

    @Test(
        .enabled(if: Nginx.isInstalled, "nginx is missing: Scripts/setup nginx"),
        arguments: Wire.allCases,
        [HTTPMethod.get, .post]
    )
    func reloadsOfNginxLoseNoGETAndRepeatNoPOST(_ wire: Wire, _ method: HTTPMethod) async throws {
        let report = try await reloads.ofNginx(method, over: wire)
        #expect(report.problems == [])
    }

    @Test(
        .enabled(if: HAProxy.isInstalled, "haproxy is missing: Scripts/setup haproxy"),
        arguments: Wire.secure,
        [HTTPMethod.get, .post]
    )
    func reloadsOfHAProxyLoseNoGETAndRepeatNoPOST(_ wire: Wire, _ method: HTTPMethod) async throws {
        let report = try await reloads.ofHAProxy(method, over: wire)
        #expect(report.problems == [])
    }
}
#endif
