// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnectorContracts
import ApiConnector
import ApiConnectorTesting
import Testing

/// A collection that remembers, through the connection of a program.
@Suite(.timeLimit(.minutes(10)))
struct FakeCollectionTests {
    private let teas = FakeCollection("/teas", of: [Tea.green, .black], by: \.id)
}

extension FakeCollectionTests {
    private enum Route: ApiRouter {
        typealias EnvironmentType = ShopServer
        case list(page: Int? = nil, size: Int? = nil)
        case item(String)
        case create(JSONValue)
        case replace(Int, JSONValue)
        case patch(Int, JSONValue)
        case delete(Int)
        case clear

        var path: ApiPath {
            switch self {
            case .list, .create, .clear: "/teas"
            case .item(let id): "/teas/\(id)"
            case .replace(let id, _), .patch(let id, _), .delete(let id): "/teas/\(id)"
            }
        }

        var queryItems: [URLQueryItem]? {
            guard case .list(let page, let size) = self else { return nil }
            let items = [("page", page), ("per_page", size)]
            return items.compactMap { name, value in value.map { URLQueryItem(name: name, value: "\($0)") } }
        }

        var method: HTTPMethod {
            switch self {
            case .list, .item: .get
            case .create: .post
            case .replace: .put
            case .patch: .patch
            case .delete, .clear: .delete
            }
        }

        var body: RequestBody {
            switch self {
            case .create(let json), .replace(_, let json), .patch(_, let json): .json(json)
            default: .empty
            }
        }
    }

    private var api: NetworkConnector<TestConnector<FakeCollection<Tea, Int>>, Route> {
        NetworkConnector(environment: .test, provider: TestConnector(teas))
    }

    private func refusal(_ route: Route) async -> (status: Int?, message: String?) {
        do {
            try await api.send(at: route)
            return (nil, nil)
        } catch {
            let body = Data((error.response?.bodyPrefix ?? "").utf8)
            return (
                error.response?.status.rawValue, try? JSONDecoder().decode(JSONValue.self, from: body)["message"].string
            )
        }
    }

    @Test func readsItsItems() async throws {
        #expect(try await api.value([Tea].self, at: .list()) == [.green, .black])
        #expect(try await api.value(Tea.self, at: .item("2")) == .black)
    }

    @Test func createsAnItemWithItsLocation() async throws {
        let answer = try await api.response(of: Tea.self, at: .create(["name": "white"]))
        #expect(answer.status == 201)
        #expect(answer.value == Tea(id: 3, name: "white"))
        #expect(answer.headers[.location] == "/teas/3")
        #expect(teas.items.count == 3)
        #expect(teas[3]?.name == "white")
        #expect(try await api.value(Tea.self, at: .item("3")).name == "white")
    }

    @Test func anIdThatIsTakenIsAConflict() async throws {
        let refusal = await refusal(.create(["id": 2, "name": "white"]))
        #expect(refusal == (409, "Item 2 already exists."))
        #expect(teas.items == [.green, .black])
    }

    @Test func changesAnItem() async throws {
        #expect(try await api.value(Tea.self, at: .patch(1, ["name": "jasmine"])) == Tea(id: 1, name: "jasmine"))
        #expect(try await api.value(Tea.self, at: .replace(2, ["name": "pu-erh"])) == Tea(id: 2, name: "pu-erh"))
        #expect(teas.items.map(\.name) == ["jasmine", "pu-erh"])
        #expect(
            await refusal(.replace(2, ["id": 1, "name": "x"])) == (
                409, "The body has item 1, but the path has item 2."
            )
        )
    }

    @Test func deletesAnItemOnce() async throws {
        try await api.send(at: .delete(1))
        #expect(teas.items == [.black])
        #expect(await refusal(.delete(1)) == (404, "There is no item 1."))
        #expect(await refusal(.item("1")) == (404, "There is no item 1."))
        #expect(await refusal(.patch(1, [:])) == (404, "There is no item 1."))
        #expect(await refusal(.item("one")) == (404, "There is no item one."))
    }

    @Test func aBodyThatDoesNotDecodeIsRefused() async throws {
        let missing = await refusal(.create(["id": 7]))
        #expect(missing.status == 422)
        #expect(missing.message?.contains("the key \"name\" is missing") == true)
        #expect(await refusal(.create([1])) == (422, "The body is not a JSON object."))
        #expect(await refusal(.clear) == (405, "DELETE is not allowed here."))
        #expect(teas.items == [.green, .black])
    }

    @Test func listsPageByPageWithLinks() async throws {
        let many = FakeCollection("/teas", of: (1...7).map { Tea(id: $0, name: "\($0)") }, by: \.id)
        let api = NetworkConnector(environment: .test, provider: TestConnector(many), router: Route.self)
        let first = try await api.response(of: [Tea].self, at: .list(size: 3))
        #expect(first.value.map(\.id) == [1, 2, 3])
        #expect(first.headers["X-Total-Count"] == "7")
        let links = ["first": 1, "next": 2, "last": 3].mapValues {
            "https://shop.example.com:443/teas?per_page=3&page=\($0)"
        }
        for (relation, target) in links {
            #expect(first.headers[.link]?.contains("<\(target)>; rel=\"\(relation)\"") == true)
        }
        #expect(first.headers[.link]?.contains("prev") == false)
        #expect(try await api.value([Tea].self, at: .list(page: 3, size: 3)).map(\.id) == [7])
        #expect(try await api.value([Tea].self, at: .list(page: 4, size: 3)) == [])
        #expect(try await api.value([Tea].self, at: .list(page: .max, size: .max)) == [])
        await #expect(throws: ApiConnectorError.self) { try await api.send(at: .list(page: 0)) }
        await #expect(throws: ApiConnectorError.self) { try await api.send(at: .list(size: -1)) }

        var ids: [Int] = []
        let pages = api.pages(of: [Tea].self, from: .list(size: 3), next: .link)
        for try await page in pages { ids += page.map(\.id) }
        #expect(ids == Array(1...7))
    }

    @Test func writesInTheEnvelopeOfTheBackend() async throws {
        enum Users: ApiRouter {
            typealias EnvironmentType = ShopServer
            typealias EnvelopeType = DataEnvelope<CodedFailure>
            case tea(String)
            var path: ApiPath {
                switch self {
                case .tea(let id): "/v1/teas/\(id)"
                }
            }
        }
        struct Named: Codable, Sendable, Equatable {
            var slug: String
            var cups: Int
        }
        var configuration = FakeConfiguration()
        configuration.envelope = DataEnvelope<CodedFailure>.self
        configuration.idField = "slug"
        let fake = FakeCollection(
            "/v1/teas",
            of: [Named(slug: "a/b", cups: 2)],
            by: \.slug,
            configuration: configuration
        )
        let api = NetworkConnector(environment: .test, provider: TestConnector(fake), router: Users.self)
        #expect(try await api.value(Named.self, at: .tea("a/b")) == Named(slug: "a/b", cups: 2))
        guard case .backendFailure(let failure, let head) = await api.outcome(Named.self, at: .tea("c")) else {
            Issue.record("no error of the backend's own")
            return
        }
        #expect(head.status == 404)
        #expect(failure.code == 404)
        #expect(failure.message == "There is no item c.")
    }

    @Test func aRequestToAnotherPathIsUnmatched() async throws {
        let request = ApiRequest(url: try #require(URL(string: "http://h/coffees/1")))
        #expect(!teas.isMeant(by: request))
        let error = await #expect(throws: ApiConnectorError.self) {
            try await TestConnector(teas).response(for: request)
        }
        #expect(error?.kind == .unmatched)
    }

    @Test func theTestCanAddAndRemoveItems() {
        teas[7] = Tea(id: 7, name: "oolong")
        teas[1] = nil
        teas[2] = Tea(id: 2, name: "assam")
        teas[99] = nil
        #expect(teas.items.map(\.id) == [2, 7])
        #expect(teas[2]?.name == "assam")
    }

    @Test func concurrentWritesLoseNoItem() async throws {
        let empty = FakeCollection("/teas", of: [Tea](), by: \.id)
        let api = NetworkConnector(environment: .test, provider: TestConnector(empty), router: Route.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...200 {
                group.addTask { try await api.send(at: .create(["name": .string("\(number)")])) }
            }
            try await group.waitForAll()
        }
        #expect(Set(empty.items.map(\.id)) == Set(1...200))
        #expect(Set(empty.items.map(\.name)).count == 200)
    }
}
