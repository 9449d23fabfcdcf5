// ApiConnector
// Routes, connections and test doubles for HTTP backends.
// MIT License, see LICENSE.

import ApiConnector
import ApiConnectorTesting
import Testing

@Suite struct StreamingResults {
    enum Shop: ApiRouter {
        typealias EnvironmentType = Server
        case orders, export, log, prices, answer(to: String)
        case list(after: String?)
        case page(Int)

        var path: ApiPath {
            switch self {
            case .orders: "/orders"
            case .export: "/export"
            case .log: "/log"
            case .prices: "/prices"
            case .answer: "/answers"
            case .list, .page: "/list"
            }
        }

        var queryItems: ApiQuery {
            switch self {
            case .list(after: let cursor?): ["after": cursor]
            case .page(let number): ["page": "\(number)"]
            default: .empty
            }
        }

        var method: HTTPMethod {
            if case .answer = self { .post } else { .get }
        }

        var body: RequestBody {
            if case .answer(to: let question) = self { .json(["question": question]) } else { .empty }
        }
    }

    struct Order: ApiModel, Equatable {
        let id: Int
    }

    struct Price: ApiModel, Equatable {
        let cents: Int
    }

    struct Token: ApiModel, Equatable {
        let text: String
    }

    struct OrderApi<Provider: DataRequestType>: ApiConnectionType {
        typealias RouterType = Shop
        let environment: Server
        let provider: Provider

        func orders() -> ResponseStream<Order> {
            pages(of: [Order].self, from: .orders).elements
        }
    }

    struct OrderList: ApiModel {
        let items: [Order]
        let cursor: String?
    }

    typealias ShopConnection<Provider: DataRequestType> = NetworkConnector<Provider, Shop>

    func formats(_ api: ShopConnection<some DataRequestType>) async throws(ApiConnectorError) {
        for try await order in api.stream(of: Order.self, at: .export) {
            show(order)
        }
        for try await order in api.stream(of: Order.self, at: .orders, as: .elements) { show(order) }
        for try await order in api.stream(of: Order.self, at: .orders, as: .elements(at: "data.items")) { show(order) }
        for try await line in api.stream(at: .log, as: .lines) { show(line) }
        for try await event in api.stream(at: .prices, as: .events) { show(event.type, event.data) }
        for try await price in api.stream(of: Price.self, at: .prices, as: .events) { show(price) }
        for try await token in api.stream(of: Token.self, at: .answer(to: "Why?"), as: .events(until: "[DONE]")) {
            show(token.text)
        }
        for try await event in api.stream(at: .prices, as: .events) {
            switch event.type {
            case "price": show(try event.decoded(as: Price.self, with: api.configuration.decoder).cents)
            case "close": show(event.data)
            default: break
            }
        }
    }

    func undecodable(_ api: ShopConnection<some DataRequestType>) async throws(ApiConnectorError) {
        for try await order in api.stream(of: Order.self, at: .export, as: .skippingUndecodable(.jsonLines)) {
            show(order)
        }
        let rows = api.stream(of: Result<Order, ApiConnectorError>.self, at: .export, as: .results(.jsonLines))
        for try await row in rows {
            switch row {
            case .success(let order): show(order)
            case .failure(let error): show(error.detail)
            }
        }
    }

    func resuming(_ api: ShopConnection<some DataRequestType>) async throws(ApiConnectorError) {
        for try await price in api.stream(of: Price.self, at: .prices, as: .events.resuming()) { show(price) }
        let patient = RetryPolicy(maximumAttemptCount: 20, maximumDuration: .seconds(3600))
        for try await order in api.stream(of: Order.self, at: .export, as: .jsonLines.resuming(patient)) { show(order) }
    }

    func pages(_ api: ShopConnection<some DataRequestType>) async throws(ApiConnectorError) {
        for try await order in api.pages(of: [Order].self, from: .orders).elements { show(order) }
        let lists = api.pages(
            of: OrderList.self,
            from: .list(after: nil),
            next: .route { page in page.value.cursor.map { .list(after: $0) } }
        )
        for try await order in lists.elements(\.items) { show(order) }
        let numbered = api.pages(of: [Order].self, from: .page(1), next: .number(after: 1) { .page($0) })
        for try await order in numbered.elements { show(order) }
        let counted = api.pages(
            of: [Order].self,
            from: .page(1),
            next: .route { page in page.headers["X-Next-Page"].flatMap { Int($0) }.map { .page($0) } }
        )
        for try await order in counted.elements { show(order) }
        for try await page in api.pages(of: [Order].self, from: .orders, prefetching: true).prefix(10) {
            show(page.count)
        }
    }

    @Test func readsEventsOfAnyKind() async throws {
        let events = "event: price\ndata: {\"cents\": 350}\n\n"
        let api = ShopConnection(
            environment: .localhost,
            provider: TestConnector { _ in .data(Data(events.utf8), headers: ["Content-Type": "text/event-stream"]) }
        )
        var prices: [Price] = []
        for try await price in api.stream(of: Price.self, at: .prices) { prices.append(price) }
        #expect(prices == [Price(cents: 350)])
    }

    @Test func goesThroughThePagesOfTheGuide() async throws {
        let api = ShopConnection(
            environment: .localhost,
            provider: TestConnector { request in
                let query = request.url.query() ?? ""
                switch request.url.path() {
                case "/orders":
                    let next: HTTPHeaders = query.isEmpty ? ["Link": "</orders?page=2>; rel=\"next\""] : [:]
                    return .json([["id": query.isEmpty ? 1 : 2]], headers: next)
                default:
                    if query.hasPrefix("page") { return query < "page=3" ? .json([["id": 7]]) : .json([Order]()) }
                    return .json(
                        OrderList(items: [Order(id: query.isEmpty ? 3 : 4)], cursor: query.isEmpty ? "b" : nil)
                    )
                }
            }
        )
        func ids(_ stream: ResponseStream<Order>) async throws -> [Int] {
            var ids: [Int] = []
            for try await order in stream { ids.append(order.id) }
            return ids
        }
        #expect(try await ids(api.pages(of: [Order].self, from: .orders).elements) == [1, 2])
        let lists = api.pages(
            of: OrderList.self,
            from: .list(after: nil),
            next: .route { page in page.value.cursor.map { .list(after: $0) } }
        )
        #expect(try await ids(lists.elements(\.items)) == [3, 4])
        let numbered = api.pages(of: [Order].self, from: .page(1), next: .number(after: 1) { .page($0) })
        #expect(try await ids(numbered.elements) == [7, 7])
        try await pages(api)
    }

    private func show(_ what: Any...) { _ = what }
}
