// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import ApiConnectorTraffic
import Testing

/// No text contains a secret of a call that waits for a limit, is sent twice, fails over or meets an open circuit.
///
/// The secret is in a header field, a query item, a JSON field, a cookie or the user info.
struct TrafficSecretTests {
    private final class Reader: CallObserver {
        let texts = Locked<[String]>([])

        func handle(_ event: CallEvent) {
            var dumped = ""
            dump(event, to: &dumped)
            take([
                "\(event)", "\(event.kind)", dumped, event.url(), event.curlCommand(),
                "\(event.summary) \(event.summary.headers)",
            ])
        }

        func take(_ some: [String]) {
            texts.withLock { $0 += some }
        }
    }

    @Test(arguments: PlantedSecret.Form.allCases) func isFoundInNoText(form: PlantedSecret.Form) async throws {
        let secret = PlantedSecret(form, core: "'\\/{}[]:,=+%40&")
        let reader = Reader()
        let clock = ManualClock()
        let transport = TestConnector { request in
            // The mirror is shown nothing.
            let isMirror = request.url.host() == "mirror.example.com"
            let sent = "\(request.url) \(request.headers.map(\.value))"
            #expect(!isMirror || secret.traces(in: sent).isEmpty)
            let fields: HTTPHeaders = ["Set-Cookie": "id=\(secret.text)", "RateLimit": "\"\(secret.text)\";r=0;t=1"]
            return .json(["token": secret.text], status: 503, headers: fields).after(.seconds(1), on: clock)
        }
        let hosts = ["http://one.example.com", "http://mirror.example.com"].compactMap { URL(string: $0) }
        let inner =
            transport
            .circuitBreaking(CircuitPolicy(minimumCount: 4))
            .observing(by: reader)
            .limiting(RequestLimit(concurrent: 1, rate: RequestRate(1, per: .seconds(1))))
            .hedging(HedgePolicy(percentile: nil, delay: .milliseconds(100)))
            .failingOver(to: hosts)
            .routing { _ in nil }
        let provider =
            inner
            .authenticating(by: .fixed(.apiKey(secret.text, inHeader: "Shop")), for: .origins(hosts[0]))
            .observing(by: CallLog(from: .debug) { reader.take([$1]) })
            .observing(by: CallLog.curlOfFailedCalls { reader.take([$0]) })
            .observing(by: reader)
        var url = try #require(URLComponents(string: "http://one.example.com/p"))
        url.user = secret.text
        url.queryItems = [URLQueryItem(name: "access_token", value: secret.text)]
        var request = ApiRequest(url: try #require(url.url), method: .put, body: .json(["password": secret.text]))
        request.headers = ["Authorization": "Bearer \(secret.text)", "Cookie": "id=\(secret.text)"]
        request.timeSource = clock

        for number in 0..<8 {
            var limited = request
            limited.deadline = number.isMultiple(of: 3) ? clock.now + .milliseconds(1500) : nil
            let (result, _) = try await clock.moving { [limited] in await provider.result(for: limited) }
            switch result {
            case .success(let response): reader.take(["\(response)", "\(response.request)"])
            case .failure(let error):
                reader.take([
                    "\(error)", error.detail, error.localizedDescription, "\(error.underlying.map { "\($0)" } ?? "")",
                ])
            }
        }
        // Another host is asked only for what shows no secret.
        var plain = ApiRequest(url: hosts[0], method: .get)
        plain.timeSource = clock
        _ = try await clock.moving { [plain] in await inner.observing(by: reader).result(for: plain) }
        let texts = reader.texts.withLock { $0 }
        for word in ["limited for", "hedged after", "failed over to", "circuit: opened", "circuitOpen"] {
            #expect(texts.contains { $0.contains(word) }, "nothing was \(word)")
        }
        #expect(texts.first { !secret.traces(in: $0).isEmpty } == nil)
    }
}
