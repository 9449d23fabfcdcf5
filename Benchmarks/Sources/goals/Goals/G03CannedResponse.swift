// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import MicroCases

/// Canned responses through TestConnector, decoded, in sequence.
///
/// Mocker, the goal's rival, cannot be downloaded where this is measured. When the goal was set, Mocker answered 6,623
/// requests per second over URLSession, on a machine that decoded the body 410,000 times per second. So a response from
/// Mocker counts as 61.9 decodings. A bare URLProtocol, which is several times as fast as Mocker, is measured as well.
struct G03CannedResponse: Goal {
    let number = "G3"
    let title = "a canned response through TestConnector, decoded"

    private static let mockerDecodingCount = 410_000 / 6_623.0

    func measure(on bench: Bench) async throws -> Outcome {
        let data = Data(NginxServer.smallBody.utf8)
        let decoder = JSONDecoder()
        let provider = TestConnector { _ in .data(data, headers: ["Content-Type": "application/json"]) }
        let ours = ConnectorGet(provider, port: 80)
        let stub = URLSessionGet(
            session: StubProtocol.session(),
            url: URL(string: "http://127.0.0.1/small") ?? URL(filePath: "")
        )
        try await ours.check()
        try await stub.check()

        let count = bench.isQuick ? 20_000 : 100_000
        var contest = Contest()
        contest.add("ours") { try await Rate.microseconds(count: count) { keep(try await ours.value()) } }
        contest.add("decoding") {
            try await Rate.microseconds(count: count) { keep(try decoder.decode(SmallValue.self, from: data)) }
        }
        contest.add("stub") { try await Rate.microseconds(count: count / 50) { keep(try await stub.value()) } }
        let samples = try await contest.run(rounds: bench.rounds)

        var outcome = Outcome(goal: number, title: title)
        outcome.add(Figure("ours", samples.median("ours"), .microseconds))
        outcome.add(Figure("the decoding", samples.median("decoding"), .microseconds))
        outcome.add(Figure("a URLProtocol on URLSession", samples.median("stub"), .microseconds))
        outcome.add(Figure("of which ours is", samples.ratio("stub", to: "ours"), .times))
        let decodings = samples.ratio("decoding", to: "ours")
        outcome.add(
            Check("on top of the decoding", samples.difference("ours", from: "decoding"), atMost: 2.5, .microseconds),
            Check("× Mocker, taken for 61.9 decodings", Self.mockerDecodingCount * decodings, atLeast: 25)
        )
        return outcome
    }
}

/// Answers every request with the small body, like Mocker.
private final class StubProtocol: URLProtocol {
    static func session() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.protocolClasses = [StubProtocol.self]
        return URLSession(configuration: configuration)
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let headers = ["Content-Type": "application/json"]
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(NginxServer.smallBody.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
