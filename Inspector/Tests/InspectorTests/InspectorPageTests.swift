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
    private func send(
        _ paths: [String],
        in inspector: Inspector,
        _ answer: TestConnectorResponse,
        lasting duration: Duration = .zero,
        on clock: ManualClock? = nil
    ) async throws {
        let provider = TestConnector { _ in
            clock?.advance(by: duration)
            return answer
        }
        .inspected(by: inspector)
        for path in paths {
            var request = ApiRequest(url: try #require(URL(string: "http://localhost\(path)")))
            if let clock { request.timeSource = clock }
            _ = try await provider.response(for: request)
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
            try await tab.search("/tea/4711")
            #expect(try await tab.evaluate("document.querySelectorAll('.row').length") == 1)
        }
    }

    @Test func tenThousandExchangesThatArriveCostWorkOnlyForTheChanges() async throws {
        let inspector = Inspector(exchangeCount: 10_000)
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            // Counts the calls to which the filter is applied, those to which it has to be applied, and the rows.
            _ = try await tab.evaluate(
                """
                window.counts = { filtered: 0, due: 0, rows: 0 };
                {
                  const [oldPasses, oldTake, oldTick, oldDraw] = [passes, take, tick, draw];
                  passes = (call) => { counts.filtered += 1; return oldPasses(call); };
                  take = (exchange) => { counts.due += 1; oldTake(exchange); };
                  tick = () => { counts.due += running.size; oldTick(); };
                  draw = () => { oldDraw(); counts.rows = Math.max(counts.rows, rows.children.length); };
                  byID("search").addEventListener("input", () => { counts.due += calls.size; });
                }
                """
            )
            async let sent: Void = send((0..<10_000).map { "/tea/\($0)" }, in: inspector, .status(204))
            // The page answers its user while the exchanges arrive.
            try await tab.wait(until: "exchanges.size > 100")
            try await tab.search("/tea/77")
            try await tab.wait(until: "document.getElementById('exchange-78')")
            #expect(try await tab.evaluate("document.getElementById('exchange-1')").isNull)
            try await tab.search("")
            _ = try await tab.evaluate("document.getElementById('list').focus()")
            try await tab.press("Home")
            try await tab.wait(until: "document.getElementById('detail').dataset.number === '1'")
            try await sent
            try await tab.wait(until: "exchanges.size === 10000 && running.size === 0 && !isDue")
            #expect(try await tab.evaluate("shown.length") == 10_000)
            #expect(try await tab.evaluate("shown.every((exchange, index) => exchange.number === index + 1)") == true)
            let counts = try await tab.evaluate("counts")
            #expect((counts["due"].int ?? 0) >= 10_000)
            #expect((counts["filtered"].int ?? .max) <= (counts["due"].int ?? 0))
            #expect((1..<100).contains(counts["rows"].int ?? 0))
        }
    }

    @Test func theTimeOfARunningExchangeGrows() async throws {
        let inspector = Inspector()
        let (gate, opening) = AsyncStream<Never>.makeStream()
        let provider = TestConnector { _ in
            for await _ in gate {}
            return .json(["name": "green"])
        }
        .inspected(by: inspector)
        let request = ApiRequest(url: try #require(URL(string: "http://localhost/tea")))
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            async let response = provider.response(for: request)
            try await tab.wait(until: "document.getElementById('exchange-1')")
            #expect(try await tab.texts(".row > span:nth-child(2)") == ["running"])
            _ = try await tab.evaluate("document.getElementById('exchange-1').click()")
            try await tab.wait(until: "document.getElementById('elapsed')")
            for element in ["#exchange-1 .time", "#elapsed"] {
                let time = try await tab.texts(element).first ?? ""
                try await tab.wait(until: "document.querySelector('\(element)').textContent !== '\(time)'")
            }
            // The program sends nothing when the exchange becomes slow.
            try await tab.filter("slow")
            try await tab.wait(until: "document.getElementById('exchange-1')")
            #expect(try await tab.evaluate("elapsed(exchanges.get(1)) >= 1000") == true)
            opening.finish()
            try await tab.wait(until: "document.getElementById('detail').textContent.includes('Response 200')")
            #expect(try await tab.texts("pre") == ["{\n  \"name\": \"green\"\n}"])
            try await tab.wait(until: "running.size === 0 && timer === null")
            #expect(try await tab.texts(".row > span:nth-child(2)") == ["200"])
            #expect(try await response.status == 200)
        }
    }

    @Test func theBarsHaveOneTimeAxis() async throws {
        let inspector = Inspector()
        let clock = ManualClock()
        try await send(["/short"], in: inspector, .status(204), lasting: .seconds(1), on: clock)
        try await send(["/long"], in: inspector, .status(204), lasting: .seconds(3), on: clock)
        clock.advance(by: .seconds(3_600))
        try await send(["/late"], in: inspector, .status(204), lasting: .seconds(1), on: clock)
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.getElementById('exchange-3')")
            let places = try await tab.evaluate(
                """
                [...document.querySelectorAll('.row .bar i')].map((part) => {
                  const [bar, place] = [part.parentElement.getBoundingClientRect(), part.getBoundingClientRect()];
                  return [place.left - bar.left, place.width].map((length) => Math.round(100 * length / bar.width));
                })
                """
            )
            // 5 seconds with an exchange, and the hour without one, which is 5 % of them wide.
            #expect(places == [[0, 19], [19, 57], [81, 19]])
            #expect(try await tab.texts("#axis-end") == ["5.25 s"])
            let titles = try await tab.evaluate("[...document.querySelectorAll('#gaps i')].map((gap) => gap.title)")
            #expect(titles == ["3600.00 s without an exchange"])
        }
    }

    @Test func hopsAndAttemptsAreATree() async throws {
        let inspector = Inspector()
        let provider = TestConnector { request in
            switch (request.url.path(), request.attempt) {
            case ("/old", 2): .status(302, headers: ["Location": "/new"])
            case ("/new", 2): .status(204)
            default: .status(503)
            }
        }
        .inspected(by: inspector)
        .retrying(RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero))
        _ = try await NetworkConnector(environment: Place.test, provider: provider, router: Page.self).data(at: .old)
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.getElementById('exchange-4')")
            #expect(try await tab.texts(".row .link") == ["", "attempt 2: ", "302 → ", "attempt 2: "])
            #expect(try await tab.texts(".row .path") == ["/old", "/old", "/new", "/new"])
            let levels = "[...document.querySelectorAll('.row')].map((row) => row.ariaLevel)"
            #expect(try await tab.evaluate(levels) == ["1", "2", "2", "3"])
            let lefts = "[...document.querySelectorAll('.row .url')].map((url) => url.style.paddingLeft)"
            #expect(try await tab.evaluate(lefts) == ["0em", "1.5em", "1.5em", "3em"])
        }
    }

    private enum Place: String, ApiEnvironment {
        case test = "localhost"
    }

    private enum Page: String, ApiRouter {
        typealias EnvironmentType = Place
        case old
    }

    @Test func theFilterSelectsCalls() async throws {
        let inspector = Inspector()
        let clock = ManualClock()
        let (gate, opening) = AsyncStream<Never>.makeStream()
        defer { opening.finish() }
        try await send(["/good"], in: inspector, .status(204))
        try await send(["/missing"], in: inspector, .status(404))
        try await send(["/slow"], in: inspector, .status(204), lasting: .seconds(2), on: clock)
        let retrying = TestConnector { request in .status(request.attempt == 1 ? 503 : 204) }
            .inspected(by: inspector)
            .retrying(RetryPolicy(maximumAttemptCount: 2, initialDelay: .zero))
        _ = try await retrying.response(for: ApiRequest(url: try #require(URL(string: "http://localhost/again"))))
        let waiting = TestConnector { _ in
            for await _ in gate {}
            return .status(204)
        }
        .inspected(by: inspector)
        var held = ApiRequest(url: try #require(URL(string: "http://localhost/held")))
        held.timeSource = clock
        let call = Task { [held] in try await waiting.response(for: held) }
        try await inspector.serving { _, address in
            let tab = try await Browser().open(address)
            try await tab.wait(until: "document.getElementById('exchange-6')")
            let filters = [
                ("failed", ["/missing", "/again", "/again"]), ("retried", ["/again", "/again"]),
                ("running", ["/held"]), ("all", ["/good", "/missing", "/slow", "/again", "/again", "/held"]),
            ]
            for (filter, paths) in filters {
                try await tab.filter(filter)
                #expect(try await tab.texts(".row .path") == paths, "\(filter)")
            }
            try await tab.filter("slow")
            #expect(try await tab.texts(".row .path").first == "/slow")
            #expect(try await !tab.texts(".row .path").contains("/good"))
            try await tab.filter("all")
            try await tab.search("again 503")
            // A call is found if its exchanges together have all words.
            #expect(try await tab.texts(".row .path") == ["/again", "/again"])
        }
        opening.finish()
        _ = try await call.value
    }

    @Test func anExchangeIsCopiedAndTheArchiveIsSaved() async throws {
        let inspector = Inspector()
        try await send(["/tea"], in: inspector, .json(["name": "green"]))
        let folder = FileManager.default.temporaryDirectory.appending(path: "inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await inspector.serving { _, address in
            let browser = try Browser()
            _ = try await browser.command(
                "Browser.grantPermissions",
                ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]]
            )
            let tab = try await browser.open(address)
            _ = try await tab.command("Page.bringToFront", [:])
            try await tab.wait(until: "document.getElementById('exchange-1')")
            _ = try await tab.evaluate("document.getElementById('exchange-1').click()")
            try await tab.wait(until: "document.querySelectorAll('button').length === 2")
            let exchange = try #require(inspector.archive.exchanges.first)
            let copies = [exchange.curlCommand, CannedLine(exchange).text]
            for (index, copy) in copies.enumerated() {
                _ = try await tab.evaluate("document.querySelectorAll('button')[\(index)].click()")
                try await tab.wait(until: "document.querySelectorAll('button')[\(index)].textContent === 'Copied'")
                #expect(try await tab.evaluate("navigator.clipboard.readText()").string == copy)
            }
            _ = try await browser.command(
                "Browser.setDownloadBehavior",
                ["behavior": "allow", "downloadPath": .string(folder.path()), "eventsEnabled": true]
            )
            _ = try await tab.evaluate("document.getElementById('har').click()")
            _ = try await browser.event("Browser.downloadProgress") { $0["state"] == "completed" }
            let har = try Data(contentsOf: folder.appending(path: "exchanges.har"))
            let log = try JSONDecoder().decode(JSONValue.self, from: har)["log"]
            #expect(log["version"] == "1.2")
            #expect(log["entries"].array?.map { $0["request"]["url"] } == ["http://localhost/tea"])
        }
    }

    @Test(arguments: [(false, "rgb(255, 255, 255)"), (true, "rgb(28, 28, 30)")])
    func theColorsAreThoseOfTheSystem(isDark: Bool, color: String) async throws {
        try await Inspector().serving { _, address in
            let tab = try await Browser(isDark: isDark).open(address)
            #expect(try await tab.evaluate("getComputedStyle(document.body).backgroundColor").string == color)
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

    @Test func newExchangesAreShownAtOnce() async throws {
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
