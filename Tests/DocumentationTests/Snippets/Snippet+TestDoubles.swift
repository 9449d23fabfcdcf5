// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTestScopes
import ApiConnectorTesting
import Testing
import XCTest

private enum TeaServer: String, ApiEnvironment {
    case test = "shop.example.com"
}

private struct Tea: ApiModel, Equatable {
    let id: Int
    let name: String
}

private enum TeaShop: ApiRouter {
    typealias EnvironmentType = TeaServer
    case teas
    case tea(id: Int)
    case add(Tea)

    var path: ApiPath {
        switch self {
        case .teas, .add: "/teas"
        case .tea(let id): "/teas/\(id)"
        }
    }

    var method: HTTPMethod {
        if case .add = self { .post } else { .get }
    }

    var body: RequestBody {
        if case .add(let tea) = self { .json(tea) } else { .empty }
    }
}

@Suite(.scripted) struct TeaTests {
    @Test func readsATea() async throws {
        let script = Script(for: TeaShop.self, in: .test)
        script.on(.tea(id: 1)).answer(Tea(id: 1, name: "green"))
        let shop = NetworkConnector(environment: .test, provider: TestConnector(script), router: TeaShop.self)

        #expect(try await shop.value(Tea.self, at: .tea(id: 1)).name == "green")
    }
}

final class TeaXCTests: XCTestCase {
    func testReadsATea() async throws {
        let script = scoped(Script(for: TeaShop.self, in: .test))
        script.on(.tea(id: 1)).answer(Tea(id: 1, name: "green"))
        let shop = NetworkConnector(environment: .test, provider: TestConnector(script), router: TeaShop.self)
        let tea = try await shop.value(Tea.self, at: .tea(id: 1))
        XCTAssertEqual(tea.name, "green")
    }
}

@Suite(.scripted, .timeLimit(.minutes(10)))
struct TestDoubleSnippets {
    private let tea = Tea(id: 1, name: "green")
    private let script = Script(for: TeaShop.self, in: .test)

    private var shop: NetworkConnector<TestConnector<Script<TeaShop>>, TeaShop> {
        NetworkConnector(environment: .test, provider: TestConnector(script))
    }

    @Test func answersInSequence() async throws {
        script.on(.tea(id: 1))
            .answer(.status(503), times: 2)
            .answer(Tea(id: 1, name: "green"), times: .atLeastOnce)
        for _ in 0..<2 { _ = try? await shop.data(at: .tea(id: 1)) }
        #expect(try await shop.value(Tea.self, at: .tea(id: 1)) == tea)
    }

    @Test func answersOfEveryKind() async throws {
        let fixture = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        try JSONEncoder().encode([tea]).write(to: fixture)
        defer { try? FileManager.default.removeItem(at: fixture) }
        script.on(.teas, as: [Tea].self).answer(.file(fixture))
        script.on(.tea(id: 7)).answer(.json(["message": "sold out"], status: 404))
        script.on(.tea(id: 8)).answer { request in .json(["asked": request.url.lastPathComponent]) }
        #expect(try await shop.value([Tea].self, at: .teas) == [tea])
        _ = try? await shop.data(at: .tea(id: 7))
        #expect(try await shop.value([String: String].self, at: .tea(id: 8)) == ["asked": "8"])
    }

    @Test func picksRequests() async throws {
        script.on { if case .tea = $0 { true } else { false } }.answer(.status(404), times: .anyNumber)
        script.on(matching: .method(.post), .path("/teas/{id}/orders"), .json(["count": 2])).answer(.status(201))
        let url = try #require(URL(string: "http://shop.example.com/teas/1/orders"))
        try await shop.send(at: url, method: .post, body: .json(["count": 2, "id": 1]))
    }

    @Test func answersWithTheBackendsOwnError() async throws {
        typealias Shop = HandlingErrors.Shop
        typealias Refusal = HandlingErrors.Refusal
        let script = Script(for: Shop.self, in: .production)
        script.on(.basket).answer(failure: Refusal(reason: "closed"))
        let shop = NetworkConnector(environment: .production, provider: TestConnector(script), router: Shop.self)
        let error = await #expect(throws: ApiConnectorError.self) { try await shop.send(at: .basket) }
        #expect(error?.failure(as: Refusal.self) == Refusal(reason: "closed"))
    }

    @Test func answersPages() async throws {
        let (green, black) = (tea, Tea(id: 2, name: "black"))
        script.on(.teas).answer([green], headers: ["Link": "</teas?page=2>; rel=\"next\""])
        script.on(matching: .path("/teas"), .query("page", "2")).answer([black])
        var names: [String] = []
        for try await tea in shop.pages(of: [Tea].self, from: .teas).elements { names.append(tea.name) }
        #expect(names == ["green", "black"])
    }

    @Test func looksAtTheParts() async throws {
        script.on(matching: .method(.post), .part("title", "Tea")).answer(.status(201))
        let form = RequestBody.multipart([
            .text("Tea", name: "title"), .data(Data([1]), name: "photo", fileName: "tea.png"),
        ])
        let url = try #require(URL(string: "http://shop.example.com/photos"))
        try await shop.send(at: url, method: .post, body: form)
        let photo = try #require(script.requests.first?.parts.first { $0.name == "photo" })
        #expect(photo.fileName == "tea.png")
        #expect(photo.body == Data([1]))
    }

    @Test func holdsAnAnswer() async throws {
        let shop = shop
        let answer = script.on(.teas).hold()
        let loading = Task { try await shop.value([Tea].self, at: .teas) }
        _ = try await answer.request()
        // Here the screen shows that it is loading.
        answer.release([Tea(id: 1, name: "green")])
        _ = try await loading.value
    }

    @Test func feedsEvents() async throws {
        let shop = shop
        let feed = BodyFeed()
        script.on(.teas).answer(.events(feed))
        let reading = Task {
            var names: [String] = []
            for try await event in shop.stream(of: ServerSentEvent.self, at: .teas, as: .events) {
                names.append(event.data)
            }
            return names
        }
        try await feed.send(event: "tea", data: "green")
        feed.finish()
        #expect(try await reading.value == ["green"])
    }

    @Test func checksHandwrittenBodies() async throws {
        let configuration = ConnectionConfiguration(json: JSONCoding(dates: .iso8601))
        let script = Script(for: TeaShop.self, in: .test, configuration: configuration)
        script.on(.tea(id: 1), as: Tea.self).answer(.json(["id": 1, "name": "green"]))
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script),
            router: TeaShop.self,
            configuration: configuration
        )
        #expect(try await shop.value(Tea.self, at: .tea(id: 1)) == tea)
    }

    @Test func shapesAnAnswer() async throws {
        let clock = ManualClock()
        let shop = shop
        script.on(.tea(id: 1)).answer(.failure(URLError(.networkConnectionLost)))
        script.on(.tea(id: 2)).answer(.json(tea).chunked(byteCount: 4).pausing(.seconds(1), on: clock))
        script.on(.tea(id: 3)).answer(.json(tea).failing(.afterByteCount(10)))
        for id in [1, 3] {
            let error = await #expect(throws: ApiConnectorError.self) { try await shop.data(at: .tea(id: id)) }
            #expect(error?.kind == .connectionLost)
        }
        let call = Task { try await shop.value(Tea.self, at: .tea(id: 2)) }
        for _ in 0..<5 {
            #expect(try await clock.nextSleep() == .seconds(1))
            clock.advance(by: .seconds(1))
        }
        #expect(try await call.value == tea)
    }

    @Test func spies() async throws {
        script.on(.add(tea)).answer(.status(201))
        try await shop.send(at: .add(tea))
        let sent = try #require(script.requests.first)
        #expect(sent.method == .post)
        #expect(sent.url.path() == "/teas")
        #expect(sent.headers[.contentType] == "application/json")
        #expect(try sent.json(as: Tea.self) == tea)
    }

    @Test func waitsForTheNextRequest() async throws {
        let shop = shop
        script.on(.tea(id: 1)).answer(tea)
        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        let next = try await script.nextRequest()
        #expect(next.url.path() == "/teas/1")
        _ = try await call.value
    }

    @Test func movesTime() async throws {
        let clock = ManualClock()
        let script = Script(for: TeaShop.self, in: .test)
        script.on(.tea(id: 1)).answer(.never)
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script),
            router: TeaShop.self,
            configuration: ConnectionConfiguration(timeouts: Timeouts(attempt: .seconds(30)), timeSource: clock)
        )

        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        _ = try await script.nextRequest()
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: ApiConnectorError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
    }

    @Test func answersLate() async throws {
        let clock = ManualClock()
        let shop = shop
        script.on(.tea(id: 2)).answer(.json(tea).after(.seconds(5), on: clock))
        let call = Task { try await shop.value(Tea.self, at: .tea(id: 2)) }
        #expect(try await clock.nextSleep() == .seconds(5))
        clock.advance(by: .seconds(5))
        #expect(try await call.value == tea)
    }

    @Test func climbsALadderOfRetries() async throws {
        let clock = ManualClock()
        let script = Script(for: TeaShop.self, in: .test)
        script.on(.tea(id: 1)).answer(.status(503), times: 9).answer(tea)
        let policy = RetryPolicy(
            maximumAttemptCount: 10,
            maximumDuration: .seconds(600),
            initialDelay: .seconds(2),
            maximumDelay: .seconds(300),
            random: { 0.5 }
        )
        let shop = NetworkConnector(
            environment: .test,
            provider: TestConnector(script).retrying(policy),
            router: TeaShop.self,
            configuration: ConnectionConfiguration(timeSource: clock)
        )

        let call = Task { try await shop.value(Tea.self, at: .tea(id: 1)) }
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 150] {
            #expect(try await clock.nextSleep(of: .wait) == .seconds(seconds))
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await call.value == tea)
    }
}
