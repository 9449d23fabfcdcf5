// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import FlyingFox
import FlyingSocks
import Testing

@testable import Inspector

/// Tests of the page in a real browser.
@Suite(.enabled(if: Browser.program != nil, "Scripts/setup chromium installs it"), .serialized)
struct InspectorPageTests {
    private func send(_ paths: [String], in inspector: Inspector, _ answer: TestConnectorResponse) async throws {
        let provider = TestConnector { _ in answer }.inspected(by: inspector)
        for path in paths {
            let url = try #require(URL(string: "http://localhost\(path)"))
            _ = try await provider.response(for: ApiRequest(url: url))
        }
    }

    @Test func aResponseCannotRunAScript() async throws {
        let inspector = Inspector()
        let hostile = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
        let name = "<b id=hacked>"
        try await send(
            ["/tea?\(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"],
            in: inspector,
            .data(
                Data(hostile.utf8),
                headers: ["Content-Type": "text/html", "X-Name": "<script>document.title='hacked'</script>"]
            )
        )
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.getElementById('exchange-1')")
            _ = try await tab.evaluate("document.getElementById('exchange-1').click()")
            try await tab.wait(until: "document.getElementById('detail').dataset.number === '1'")
            #expect(try await tab.evaluate("document.querySelector('pre').textContent").string == hostile)
            #expect(try await tab.evaluate("document.title") == "Inspector")
            #expect(
                try await tab.evaluate("document.querySelectorAll('#detail img, #detail script, #hacked').length") == 0
            )
            // A script that is injected into the page does not run.
            _ = try await tab.evaluate(
                """
                const made = document.createElement('script'); made.textContent = "document.title = 'hacked'";
                document.body.append(made);
                """
            )
            #expect(try await tab.evaluate("document.title") == "Inspector")
        }
    }

    @Test func tenThousandExchangesAreFewElements() async throws {
        let inspector = Inspector(exchangeCount: 10_000)
        try await send((0..<10_000).map { "/tea/\($0)" }, in: inspector, .status(204))
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.body.dataset.count === '10000'")
            let count = try await tab.evaluate("document.querySelectorAll('*').length").int
            #expect((count ?? .max) < 1_000)
            _ = try await tab.evaluate("document.getElementById('list').focus()")
            try await tab.press("End")
            try await tab.wait(
                until: "document.getElementById('exchange-10000')?.getAttribute('aria-selected') === 'true'"
            )
            _ = try await tab.evaluate(
                """
                const search = document.getElementById('search'); search.value = '/tea/4711';
                search.dispatchEvent(new Event('input'));
                """
            )
            #expect(try await tab.evaluate("document.querySelectorAll('.row').length") == 1)
        }
    }

    @Test func theKeyboardIsEnough() async throws {
        let inspector = Inspector()
        try await send(["/one", "/two", "/three"], in: inspector, .status(204))
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.getElementById('exchange-3')")
            _ = try await tab.evaluate("document.getElementById('list').focus()")
            try await tab.press("ArrowDown")
            try await tab.press("ArrowDown")
            try await tab.wait(until: "document.getElementById('detail').dataset.number === '2'")
            try await tab.press("/")
            #expect(try await tab.evaluate("document.activeElement.id") == "search")
            try await tab.press("Escape")
            try await tab.press("Escape")
            #expect(try await tab.evaluate("document.getElementById('detail').hidden") == true)
        }
    }

    @Test func whatComesIsShownAtOnce() async throws {
        let inspector = Inspector()
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await send(["/tea"], in: inspector, .json(["count": 12_345_678_901_234_567]))
            try await tab.wait(until: "document.getElementById('exchange-1')")
            _ = try await tab.evaluate("document.getElementById('exchange-1').click()")
            try await tab.wait(until: "document.getElementById('detail').dataset.number === '1'")
            let pretty = "{\n  \"count\": 12345678901234567\n}"
            #expect(try await tab.evaluate("document.querySelector('pre').textContent").string == pretty)
            let texts = try await tab.evaluate(
                "[...document.querySelectorAll('button')].map((button) => button.dataset.text).join()"
            )
            #expect(texts.string?.contains("curl") == true)
        }
    }

    @Test func anotherOriginCannotReadIt() async throws {
        let inspector = Inspector()
        try await send(["/tea"], in: inspector, .status(204))
        let other = HTTPServer(
            config: HTTPServer.Configuration(address: .loopback(port: 0), logger: .disabled),
            handler: ClosureHTTPHandler { _ in
                HTTPResponse(statusCode: .ok, headers: [.contentType: "text/html"], body: Data("<p>other".utf8))
            }
        )
        let run = Task { try await other.run() }
        defer { run.cancel() }
        try await other.waitUntilListening()
        guard case .ip6(_, let port)? = await other.listeningAddress else {
            Issue.record("the other server has no address")
            return
        }
        try await inspector.serving { _, address in
            let url = try #require(URL(string: "http://localhost:\(port)/"))
            let tab = try await Browser().open(url)
            #expect(try await tab.evaluate("document.body.textContent") == "other")
            for mode in ["cors", "no-cors"] {
                let text = try await tab.evaluate(
                    "fetch('\(address)', {mode: '\(mode)'}).then((answer) => answer.text(), () => 'refused')"
                )
                #expect(text == "refused", "\(mode)")
            }
        }
    }
}
